#include "elf/elf_file.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "core/text.hpp"

namespace memreplay {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, int error) {
  throw InputError(
      path.string(), "",
      std::string("cannot be read: ") + std::strerror(error) + "; expected a shared object");
}

std::string_view map(int file, const std::filesystem::path& path) {
  struct stat status {};
  if (::fstat(file, &status) != 0) fail(path, errno);
  if (S_ISDIR(status.st_mode)) fail(path, EISDIR);
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return {};
  void* const mapping = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  if (mapping == MAP_FAILED) fail(path, errno);
  return {static_cast<const char*>(mapping), size};
}

/// Closes what open() gave, also when an error is thrown.
struct Descriptor {
  int number;
  ~Descriptor() { ::close(number); }
};

/// The bytes of a shared object for x86-64, found by the addresses that its dynamic segment gives.
/// Whatever lies outside of the file is an InputError that names the file and the place.
class ElfImage {
 public:
  /// Looks at the header, the program headers and the dynamic segment alone. `bytes` must outlive
  /// it.
  ElfImage(std::string_view bytes, std::string_view file);

  const Elf64_Ehdr& header() const { return header_; }

  /// The entries of the dynamic segment, without the one that ends it.
  const std::vector<Elf64_Dyn>& dynamic() const { return dynamic_; }

  /// The value of the first entry with this tag.
  std::optional<std::uint64_t> entry(std::int64_t tag) const;

  /// What the file holds from an address to the end of its segment; `what` is for the message.
  std::string_view from_address(std::uint64_t address, std::string_view what) const;

  std::string_view part(std::string_view of, std::uint64_t offset, std::uint64_t size,
                        std::string_view what) const;

  template <typename T>
  T read(std::string_view table, std::uint64_t offset, std::string_view what) const {
    T value;
    std::memcpy(&value, part(table, offset, sizeof(T), what).data(), sizeof(T));
    return value;
  }

  /// The text at an index of a string table; it must end inside of the table.
  std::string_view text(std::string_view strings, std::uint64_t index, std::string_view what) const;

  std::string_view bytes() const { return bytes_; }

  /// Throws the InputError for something at `at`, which is inside of the bytes or just after them.
  [[noreturn]] void fail(const char* at, std::string_view message) const;

 private:
  void read_header();
  void read_program_headers();
  void read_dynamic(const Elf64_Phdr& segment);

  std::string_view bytes_;
  std::string file_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Phdr> loaded_;
  std::vector<Elf64_Dyn> dynamic_;
};

ElfImage::ElfImage(std::string_view bytes, std::string_view file) : bytes_(bytes), file_(file) {
  read_header();
  read_program_headers();
}

void ElfImage::fail(const char* at, std::string_view message) const {
  const auto offset = static_cast<std::uint64_t>(at - bytes_.data());
  throw InputError(file_, "byte " + human_count(offset), message);
}

std::string_view ElfImage::part(std::string_view of, std::uint64_t offset, std::uint64_t size,
                                std::string_view what) const {
  if (offset > of.size() || size > of.size() - offset) {
    fail(of.data() + std::min<std::uint64_t>(offset, of.size()),
         "is cut short in " + std::string(what) + "; expected a complete shared object");
  }
  return of.substr(offset, size);
}

std::string_view ElfImage::text(std::string_view strings, std::uint64_t index,
                                std::string_view what) const {
  const std::string_view rest =
      part(strings, index, strings.size() - std::min<std::uint64_t>(index, strings.size()), what);
  const std::size_t end = rest.find('\0');
  if (end == std::string_view::npos) {
    fail(rest.data(), "is cut short in " + std::string(what) + "; expected a zero byte after it");
  }
  return rest.substr(0, end);
}

std::optional<std::uint64_t> ElfImage::entry(std::int64_t tag) const {
  const auto found = std::ranges::find(dynamic_, tag, &Elf64_Dyn::d_tag);
  if (found == dynamic_.end()) return {};
  return found->d_un.d_val;
}

std::string_view ElfImage::from_address(std::uint64_t address, std::string_view what) const {
  for (const Elf64_Phdr& segment : loaded_) {
    if (address < segment.p_vaddr || address - segment.p_vaddr >= segment.p_filesz) continue;
    return part(bytes_, segment.p_offset, segment.p_filesz, "a segment")
        .substr(address - segment.p_vaddr);
  }
  throw InputError(
      file_, "address " + human_count(address),
      "has no segment with " + std::string(what) + "; expected a complete shared object");
}

void ElfImage::read_header() {
  constexpr std::string_view kExpected = "; expected a 64-bit shared object for x86-64";
  if (!bytes_.starts_with(std::string_view(ELFMAG, SELFMAG))) {
    throw InputError(file_, "", std::string("is no ELF file").append(kExpected));
  }
  header_ = read<Elf64_Ehdr>(bytes_, 0, "the ELF header");
  const bool fits = header_.e_ident[EI_CLASS] == ELFCLASS64 &&
                    header_.e_ident[EI_DATA] == ELFDATA2LSB && header_.e_machine == EM_X86_64;
  if (!fits) {
    throw InputError(file_, "", std::string("is made for another processor").append(kExpected));
  }
  if (header_.e_type != ET_DYN) {
    throw InputError(file_, "", std::string("is no shared object").append(kExpected));
  }
  if (header_.e_phentsize != sizeof(Elf64_Phdr)) {
    fail(bytes_.data() + offsetof(Elf64_Ehdr, e_phentsize),
         "program headers of " + human_count(header_.e_phentsize) + " bytes; expected 56");
  }
}

void ElfImage::read_program_headers() {
  const std::string_view table =
      part(bytes_, header_.e_phoff, header_.e_phnum * sizeof(Elf64_Phdr), "the program headers");
  std::optional<Elf64_Phdr> dynamic;
  for (std::size_t at = 0; at < table.size(); at += sizeof(Elf64_Phdr)) {
    const auto segment = read<Elf64_Phdr>(table, at, "a program header");
    if (segment.p_type == PT_LOAD) loaded_.push_back(segment);
    if (segment.p_type == PT_DYNAMIC) dynamic = segment;
  }
  if (!dynamic) {
    throw InputError(file_, "", "has no dynamic segment; expected a shared object");
  }
  read_dynamic(*dynamic);
}

void ElfImage::read_dynamic(const Elf64_Phdr& segment) {
  const std::string_view table =
      part(bytes_, segment.p_offset, segment.p_filesz, "the dynamic segment");
  for (std::size_t at = 0;; at += sizeof(Elf64_Dyn)) {
    const auto entry = read<Elf64_Dyn>(table, at, "the dynamic segment");
    if (entry.d_tag == DT_NULL) return;
    dynamic_.push_back(entry);
  }
}

constexpr std::uint16_t kVersionIndex = 0x7fff;  // the bit above marks a hidden version

struct RequiredVersion {
  std::string_view version;
  std::string_view library;
};

/// Reads what the dynamic segment points to.
class Tables {
 public:
  explicit Tables(const ElfImage& image) : image_(image) {
    if (const auto address = image.entry(DT_STRTAB)) {
      const std::string_view rest = image.from_address(*address, "the string table");
      strings_ = image.part(rest, 0, image.entry(DT_STRSZ).value_or(0), "the string table");
    }
  }

  std::string_view text(std::uint64_t index) const {
    return image_.text(strings_, index, "a name");
  }

  ElfFile file() const {
    ElfFile file;
    for (const Elf64_Dyn& entry : image_.dynamic()) {
      if (entry.d_tag == DT_SONAME) file.soname = text(entry.d_un.d_val);
      if (entry.d_tag == DT_NEEDED) file.needed.push_back(text(entry.d_un.d_val));
    }
    read_symbols(file);
    return file;
  }

 private:
  void read_symbols(ElfFile& file) const;
  std::vector<RequiredVersion> required_versions() const;
  void read_versions_of(std::string_view need, std::vector<RequiredVersion>& versions) const;
  std::uint64_t symbol_count() const;
  std::optional<std::uint64_t> count_of_sections() const;
  std::uint64_t count_of_gnu_hash(std::uint64_t address) const;

  const ElfImage& image_;
  std::string_view strings_;
};

/// By index. The chains go forward alone, so that they end.
std::vector<RequiredVersion> Tables::required_versions() const {
  std::vector<RequiredVersion> versions;
  const auto address = image_.entry(DT_VERNEED);
  if (!address) return versions;
  std::string_view rest = image_.from_address(*address, "the needed versions");
  for (;;) {
    read_versions_of(rest, versions);
    const auto need = image_.read<Elf64_Verneed>(rest, 0, "a needed version");
    if (need.vn_next == 0) return versions;
    image_.part(rest, need.vn_next, 0, "a needed version");
    rest.remove_prefix(need.vn_next);
  }
}

void Tables::read_versions_of(std::string_view rest, std::vector<RequiredVersion>& versions) const {
  const auto need = image_.read<Elf64_Verneed>(rest, 0, "a needed version");
  const std::string_view library = text(need.vn_file);
  std::uint64_t at = need.vn_aux;
  for (std::size_t left = need.vn_cnt; left > 0; --left) {
    const auto version = image_.read<Elf64_Vernaux>(rest, at, "a needed version");
    const std::size_t index = version.vna_other & kVersionIndex;
    if (index >= versions.size()) versions.resize(index + 1);
    versions[index] = {text(version.vna_name), library};
    if (version.vna_next == 0) return;
    at += version.vna_next;
  }
}

void Tables::read_symbols(ElfFile& file) const {
  const auto address = image_.entry(DT_SYMTAB);
  if (!address) return;
  const std::uint64_t count = symbol_count();
  const std::string_view rest = image_.from_address(*address, "the symbol table");
  const std::vector<RequiredVersion> versions = required_versions();
  const auto version_table = image_.entry(DT_VERSYM);
  const std::string_view indices =
      version_table ? image_.from_address(*version_table, "the symbols' versions") : "";
  for (std::uint64_t i = 1; i < count; ++i) {
    const auto symbol = image_.read<Elf64_Sym>(rest, i * sizeof(Elf64_Sym), "the symbol table");
    const unsigned binding = ELF64_ST_BIND(symbol.st_info);
    if (binding == STB_LOCAL || symbol.st_name == 0) continue;
    const std::string_view name = text(symbol.st_name);
    if (symbol.st_shndx != SHN_UNDEF) {
      file.defined.push_back(name);
      continue;
    }
    RequiredVersion required;
    if (version_table) {
      const auto index =
          image_.read<std::uint16_t>(indices, i * sizeof(std::uint16_t), "the symbols' versions") &
          kVersionIndex;
      if (static_cast<std::size_t>(index) < versions.size()) required = versions[index];
    }
    file.undefined.push_back({name, required.version, required.library, binding == STB_WEAK});
  }
}

/// The dynamic segment does not say it. The GNU hash comes last: it leaves out what is undefined,
/// which stands before the rest, so that without a rest it says nothing.
std::uint64_t Tables::symbol_count() const {
  if (const auto address = image_.entry(DT_HASH)) {
    const std::string_view table = image_.from_address(*address, "the hash table");
    return image_.read<std::uint32_t>(table, sizeof(std::uint32_t), "the hash table");
  }
  if (const auto count = count_of_sections()) return *count;
  if (const auto address = image_.entry(DT_GNU_HASH)) return count_of_gnu_hash(*address);
  image_.fail(image_.bytes().data(), "does not say how many symbols it has; expected a hash table");
}

std::optional<std::uint64_t> Tables::count_of_sections() const {
  const Elf64_Ehdr& header = image_.header();
  if (header.e_shoff == 0 || header.e_shentsize != sizeof(Elf64_Shdr)) return {};
  const std::string_view table = image_.part(
      image_.bytes(), header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr), "the section headers");
  for (std::size_t at = 0; at < table.size(); at += sizeof(Elf64_Shdr)) {
    const auto section = image_.read<Elf64_Shdr>(table, at, "a section header");
    if (section.sh_type == SHT_DYNSYM && section.sh_addr == image_.entry(DT_SYMTAB)) {
      return section.sh_size / sizeof(Elf64_Sym);
    }
  }
  return {};
}

std::uint64_t Tables::count_of_gnu_hash(std::uint64_t address) const {
  constexpr std::string_view kWhat = "the GNU hash table";
  constexpr std::uint64_t kWord = sizeof(std::uint32_t);
  const std::string_view table = image_.from_address(address, kWhat);
  const auto word = [&](std::uint64_t at) { return image_.read<std::uint32_t>(table, at, kWhat); };
  const std::uint64_t buckets = word(0), first = word(kWord), filter_words = word(2 * kWord);
  const std::uint64_t buckets_at = 4 * kWord + filter_words * sizeof(std::uint64_t);
  std::uint64_t last = 0;
  for (std::uint64_t i = 0; i < buckets; ++i) {
    last = std::max<std::uint64_t>(last, word(buckets_at + i * kWord));
  }
  if (last < first) return first;
  const std::uint64_t chains_at = buckets_at + buckets * kWord;
  while ((word(chains_at + (last - first) * kWord) & 1) == 0) ++last;
  return last + 1;
}

}  // namespace

ElfFile elf_file(std::string_view bytes, std::string_view file) {
  const ElfImage image(bytes, file);
  return Tables(image).file();
}

MappedFile::MappedFile(const std::filesystem::path& path) {
  const int number = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (number < 0) fail(path, errno);
  const Descriptor file{number};
  bytes_ = map(file.number, path);
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

}  // namespace memreplay
