"""tools/sbom describes what is in the program as SPDX 2.3: what the specification requires of each part is there."""
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SBOM = ROOT / "tools" / "sbom"
LINKED = {"fmt", "zstd", "zlib", "SQLite", "CLI11", "nlohmann-json", "dygraphs", "libstdc++", "libgcc"}


def printed(*arguments):
    return subprocess.run([SBOM, *arguments], capture_output=True, text=True, check=True,
                          env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}).stdout


@unittest.skipUnless(shutil.which("dpkg-query") and shutil.which("g++"), "needs Debian's packages and g++")
class Sbom(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = printed(SBOM)  # any file will do for the program
        cls.document = json.loads(cls.text)
        cls.packages = {package["name"]: package for package in cls.document["packages"]}

    def test_the_document_says_what_it_is(self):
        self.assertEqual(self.document["spdxVersion"], "SPDX-2.3")
        self.assertEqual(self.document["dataLicense"], "CC0-1.0")
        self.assertEqual(self.document["SPDXID"], "SPDXRef-DOCUMENT")
        self.assertEqual(self.document["creationInfo"]["created"], "2023-11-14T22:13:20Z")
        self.assertRegex(self.document["documentNamespace"], r"^https://[^#]+$")
        for creator in self.document["creationInfo"]["creators"]:
            self.assertRegex(creator, "^(Organization|Tool): ")

    def test_every_part_has_version_licence_and_origin(self):
        self.assertEqual(set(self.packages), LINKED | {"memreplay"})
        for name, package in self.packages.items():
            self.assertRegex(package["versionInfo"], "^[0-9]", name)
            self.assertRegex(package["licenseDeclared"], r"^[A-Za-z0-9.-]+( WITH [A-Za-z0-9.-]+)?$", name)
            self.assertEqual(package["downloadLocation"], "NOASSERTION")
            if name in LINKED:
                self.assertTrue(package["externalRefs"][0]["referenceLocator"].startswith("pkg:deb/debian/"), name)

    def test_identifiers_are_allowed_different_and_related(self):
        identifiers = [package["SPDXID"] for package in self.packages.values()]
        self.assertEqual(len(identifiers), len(set(identifiers)))
        for identifier in identifiers:
            self.assertTrue(re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", identifier), identifier)
        related = {relation["relatedSpdxElement"] for relation in self.document["relationships"]}
        self.assertEqual(related, set(identifiers))

    def test_the_program_is_told_by_its_digest_and_its_version(self):
        program = self.packages["memreplay"]
        self.assertEqual(program["checksums"][0]["checksumValue"], hashlib.sha256(SBOM.read_bytes()).hexdigest())
        self.assertIn(f'VERSION {program["versionInfo"]} ', (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))

    def test_it_is_the_same_again(self):
        self.assertEqual(printed(SBOM), self.text)

    def test_the_licences_of_all_parts_are_given(self):
        texts = printed("--licences")
        for name in LINKED:
            self.assertRegex(texts, f"The program contains .*{re.escape(name)}")

    @unittest.skipUnless(list((ROOT / "build" / "web").glob("python/lib/python*/site-packages/ziglang")), "needs what tools/web installed")
    def test_the_page_in_the_browser_has_the_parts_of_its_compiler(self):
        packages = {package["name"]: package for package in json.loads(printed("--web", SBOM))["packages"]}
        brought = {"libc++", "libc++abi", "libunwind", "wasi-libc", "zig-compiler-rt"}
        self.assertEqual(set(packages), LINKED - {"SQLite", "libstdc++", "libgcc"} | brought | {"memreplay"})
        texts = printed("--web", "--licences")
        for name in brought:
            self.assertRegex(packages[name]["externalRefs"][0]["referenceLocator"], "^pkg:pypi/ziglang@[0-9.]+$")
            self.assertIn(f"The program contains {name}:", texts)


if __name__ == "__main__":
    unittest.main()
