# SPDX-License-Identifier: Apache-2.0
"""Whether tools/check-includes finds arrows that ought not to be. Run with the project's folder."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv.pop(1)) / "tools/check-includes"
TABLE = "low:\nhigh: low\nexcept low -> high\n"


class Includes(unittest.TestCase):
    def check(self, table, **files):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            subprocess.run(["git", "init", "-q", folder], check=True)
            for name, text in {"low__a": "", "high__b": "", **files}.items():
                path = root / (name.replace("__", "/") + ".hpp")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            (root / "table").write_text(table)
            run = subprocess.run([PROGRAM, "--root", folder, "--table", root / "table"], capture_output=True, text=True)
            return run.returncode, run.stderr

    def test_allowed_arrows_and_known_exceptions_are_no_complaint(self):
        files = {"low__a": '#include "high/b.hpp"\n', "high__b": '#include "low/a.hpp"\n#include <vector>\n'}
        self.assertEqual(self.check(TABLE, **files), (0, ""))

    def test_a_wrong_arrow_is_found_however_it_is_written(self):
        for line in ('#include "high/b.hpp"', "#include <high/b.hpp>", '  #  include "../high/b.hpp"'):
            code, said = self.check("low:\nhigh: low\n", low__a=line + "\n")
            self.assertEqual(code, 1, line)
            self.assertIn("low/a.hpp includes high/b.hpp: low may not include high", said)

    def test_a_circle_in_the_table_is_found(self):
        code, said = self.check("low: high\nhigh: low\n")
        self.assertEqual(code, 1)
        self.assertIn("low -> high -> low", said)

    def test_an_exception_that_nothing_needs_is_found(self):
        code, said = self.check(TABLE)
        self.assertEqual(code, 1)
        self.assertIn("low -> high any more", said)

    def test_a_folder_that_is_not_in_the_table_is_found(self):
        code, said = self.check("low:\nhigh: low\n", new__c='#include "low/a.hpp"\n')
        self.assertEqual(code, 1)
        self.assertIn("new/c.hpp: its folder is not in the table", said)

    def test_a_table_that_cannot_be_read_is_said(self):
        for table in ("low\n", "low:\nlow:\n", "low: none\n"):
            self.assertEqual(self.check(table)[0], 2, table)


if __name__ == "__main__":
    unittest.main()
