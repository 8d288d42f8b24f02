# SPDX-License-Identifier: Apache-2.0
"""Whether tools/check-classes finds classes that have too many methods. Run with the project's folder."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv.pop(1)) / "tools/check-classes"


class Classes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        subprocess.run(["git", "init", "-q", self.root], check=True)

    def check(self, text, table="# nothing\n"):
        (self.root / "a.hpp").write_text(text)
        (self.root / "table.txt").write_text(table)
        done = subprocess.run([PROGRAM, "--root", self.root, "--table", self.root / "table.txt", "--list"],
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stderr, done.stdout

    def number(self, text):
        """Of methods of the class in it that has most."""
        return int(self.check(text)[2].split()[0])

    @staticmethod
    def one_with(methods):
        return "class One {\npublic:\n" + "".join(f"    void f{i}();\n" for i in range(methods)) + "};\n"

    def test_twenty_are_allowed(self):
        self.assertEqual(self.check(self.one_with(20))[:2], (0, ""))

    def test_one_more_is_found(self):
        code, said, _ = self.check("\n\n" + self.one_with(21))
        self.assertEqual(code, 1)
        self.assertIn("a.hpp:3: One has 21 methods, 20 are the most", said)

    def test_exceptions_have_a_number(self):
        table = "a.hpp One 23: it has its reasons\n"
        self.assertEqual(self.check(self.one_with(23), table)[0], 0)
        self.assertIn("One has 24 methods, 23 are the most", self.check(self.one_with(24), table)[1])
        self.assertIn("One has 22 methods by now", self.check(self.one_with(22), table)[1])

    def test_exceptions_that_nothing_needs_are_found(self):
        code, said, _ = self.check(self.one_with(20), "a.hpp One 23: it has its reasons\na.hpp Two 21: gone\n")
        self.assertEqual(code, 1)
        self.assertIn("One in a.hpp needs no exception any more", said)
        self.assertIn("Two in a.hpp needs no exception any more", said)

    def test_exceptions_say_why(self):
        self.assertEqual(self.check(self.one_with(1), "a.hpp One 23\n")[0], 2)

    def test_all_kinds_of_methods_count(self):
        self.assertEqual(self.number("""
class One final : public Base<int>, private Other {
public:
    explicit One(int a) : a_(a), b_{a} {}
    ~One() override;
    [[nodiscard]] static Result<std::unique_ptr<One>> make(const std::function<void(int)>& then = {});
    virtual void pure() = 0;
    [[nodiscard]] int inside() const {
        if (a_ > 0) { return a_; }
        for (const char c : {'{', '"', '('})
            (void)c;
        return call("};\\"(");
    }
    template <typename T, typename U = std::vector<T>>
    void typed(T t);
    bool operator==(const One&) const;
    bool operator<(const One&) const;
    void operator()(int);
    auto trailing() -> std::map<int, int>;

private:
    struct Inner {
        void notOurs();
        int alsoNot() const { return 0; }
    };
    enum class Kind { first, second };
    void hidden();
};
"""), 11)

    def test_what_is_no_method_does_not_count(self):
        self.assertEqual(self.number("""
#define CALL(x) \\
    x();
class Forward;
// class Comment { void a(); };
class One {
public:
    One(const One&) = delete;
    One& operator=(const One&) = delete;
    ~One() = default;
    using Call = std::function<int(int)>;
    friend void other(One&);
    static_assert(sizeof(int) == 4);
    void only(); /* void not(); */

private:
    std::function<void(int)> then_;
    int number_ = call(1);
    std::vector<int> list_{call(2), call(3)};
    void (*pointer_)(int) = nullptr;
    std::atomic<bool> stopping_ = false; ///< void not();
};
void outside(int a);
inline void One::only() { struct Local { void not_ours(); }; }
"""), 1)


if __name__ == "__main__":
    unittest.main()
