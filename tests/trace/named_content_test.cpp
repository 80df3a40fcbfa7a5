#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "trace/input.hpp"
#include "trace/reader_samples.hpp"

namespace memreplay {
namespace {

using testing::HasSubstr;
using namespace std::string_literals;

std::string named(const std::string& bytes) { return named_content("file.bin", bytes); }

TEST(NamedContent, PointersOfLargeFilesSayHowToGetThem) {
  EXPECT_EQ(named("version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 5242880\n"),
            "is a Git LFS pointer to a file of 5,242,880 bytes, not the file itself: fetch it with "
            "git lfs pull");
  EXPECT_THAT(named("version https://git-lfs.github.com/spec/v1\r\next-0-foo sha256:cd\r\n"),
              HasSubstr("Git LFS pointer, not"));
  EXPECT_THAT(named("../.git/annex/objects/W8/q9/SHA256E-s9--ab/SHA256E-s9--ab"),
              HasSubstr("git annex get"));
}

TEST(NamedContent, CapturesOfMemrayAreNamedPackedAndNot) {
  for (const std::string& bytes :
       {"memray\0\r\0\0\0\0"s,
        "\x04\x22\x4D\x18\x68\x40\0\x10\0\0\0\0\0\0\x58\xBD\3\0\0\xFA\4memray\0"s,
        "\x04\x22\x4D\x18\x40\x40\xC0\1\0\0\0\xF1memray\0"s}) {
    EXPECT_THAT(named(bytes), HasSubstr("a capture of memray"));
  }
  EXPECT_THAT(named("\x04\x22\x4D\x18\x68\x40\0\x10words"s), HasSubstr("by lz4"));
}

TEST(NamedContent, PagesAndErrorsOfServersAreNamed) {
  for (const char* page : {"<!DOCTYPE html>\n<html>", "\n\n  <html lang=\"en\">",
                           "\xEF\xBB\xBF<!doctype HTML>", "<!-- saved -->\n<html>", "<HEAD>"}) {
    EXPECT_THAT(named(page), HasSubstr("web page (HTML)")) << page;
  }
  EXPECT_THAT(named("<?xml version=\"1.0\"?><Error><Code>NoSuchKey</Code></Error>"),
              HasSubstr("error message of a server"));
}

TEST(NamedContent, AnswersOfServersInPlaceOfAFileAreNamed) {
  for (const char* text : {"404: Not Found", "Entry not found",
                           "{\"message\":\"Not Found\",\"documentation_url\":\"https://x\"}"}) {
    EXPECT_THAT(named(text), HasSubstr("error message of a server")) << text;
  }
}

TEST(NamedContent, APointerInAMergeThatWasNotResolvedIsNamed) {
  EXPECT_THAT(named("<<<<<<< HEAD\nversion https://git-lfs.github.com/spec/v1\noid sha256:ab\n"),
              HasSubstr("an unresolved merge conflict"));
}

TEST(NamedContent, WhatToolsPrintOrTimeIsNamed) {
  EXPECT_THAT(named(std::string(80, '-') + "\nCommand:            ./a.out\n"),
              HasSubstr("massif.out file itself"));
  EXPECT_THAT(named("\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\0"s), HasSubstr("CPU's time"));
}

TEST(NamedContent, ArchivesSayHowTheyAreUnpacked) {
  EXPECT_THAT(named("PK\x03\x04\x14\0\0\0\0\0run.pickle"s), HasSubstr("unzip"));
  EXPECT_THAT(named("PK\x03\x04\0\0\0\0archive/data.pkl"s), HasSubstr("torch.save"));
  EXPECT_THAT(named("PK\x03\x04\0\0\0\0arr_0.npy"s), HasSubstr(".npz"));
  EXPECT_THAT(named("\xFD"
                    "7zXZ\0\0\4"s),
              HasSubstr("xz -d"));
  EXPECT_THAT(named("BZh91AY&SY"), HasSubstr("bunzip2"));
  EXPECT_THAT(named("7z\xBC\xAF\x27\x1C\0\4"s), HasSubstr("7z x"));
  EXPECT_THAT(named("run.pickle" + std::string(247, '\0') + "ustar  "), HasSubstr("tar -xf"));
  EXPECT_THAT(named("\x80\x02\x8A\nl\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19\x2E\x80"s),
              HasSubstr("torch.save"));
}

TEST(NamedContent, OtherFilesAreNamed) {
  EXPECT_THAT(named("\x58\x01\0\0\0\0\0\0{\"w\":"s), HasSubstr("safetensors"));
  EXPECT_THAT(named("\x89PNG\r\n\x1A\n"s), HasSubstr("picture"));
  EXPECT_THAT(named_content("run.nsys-rep", "?"), HasSubstr("nsys export"));
}

TEST(NamedContent, ARecordingIsNone) {
  for (const ReaderSample& sample : reader_samples()) {
    EXPECT_EQ(named(sample.golden()), "") << sample.format;
  }
  EXPECT_EQ(named(""), "");
}

TEST(NamedContent, UrlsAreNoPaths) {
  EXPECT_THAT(named_path("https://host/a.pickle"), HasSubstr("curl -LO"));
  EXPECT_THAT(named_path("s3://bucket/a.pickle"), HasSubstr("download it first"));
  EXPECT_THAT(named_path("file:///tmp/a.pickle"), HasSubstr("leave out file://"));
  for (const char* path : {"a.pickle", "/tmp/a:b", "://", "a b://c"}) {
    EXPECT_EQ(named_path(path), "") << path;
  }
}

}  // namespace
}  // namespace memreplay
