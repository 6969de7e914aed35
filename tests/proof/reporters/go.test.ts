import { expect, test } from "bun:test";
import { expectReport, projectWith, withToolchain } from "./toolchain.ts";

const MODULE = { "go.mod": "module ex\n\ngo 1.19\n" };
const head = (name: string) => `package ${name}
import ("fmt"; "os"; "testing")
var _ = fmt.Sprint
var _ = os.Getenv
func TestFirst(t *testing.T) { t.Log("not shown") }
`;
const ALL = `${head("ex")}
func TestBad(t *testing.T) { t.Log("one\\ntwo"); fmt.Println("printed"); t.Error("wrong") }
func TestSkip(t *testing.T) { t.Skip("x") }
func TestParts(t *testing.T) {
  for _, n := range []string{"a", "a", "b/c"} { t.Run(n, func(t *testing.T) { t.Log("in " + n); if n == "b/c" { t.Fail() } }) }
}
func TestClean(t *testing.T) { if os.Getenv("GOFLAGS") + os.Getenv("PAWL_REPORT_DIR") != "" { t.Fatal("ours") } }
func ExampleX() { fmt.Println("hi")
// Output: hi
}
`;
const NAMES = {
  ". > TestFirst": "passed",
  ". > TestBad": "failed",
  ". > TestSkip": "skipped",
  ". > TestParts": "failed",
  ". > TestParts > a": "passed",
  ". > TestParts > a#01": "passed",
  ". > TestParts > b > c": "failed",
  ". > TestClean": "passed",
  ". > ExampleX": "passed",
} as const;
const FIRST = { "p > TestFirst": "passed" } as const;
const withCode = (code: string) => projectWith({ ...MODULE, "p/a_test.go": `${head("p")}${code}\n` });

withToolchain("go", "golang-go", () => {
  test.each(["go test -count=1 ./...", "go test", "go test -v ./...", "sh -c 'cd . && go test .'"])("%s", (line) => {
    expectReport(projectWith({ ...MODULE, "a_test.go": ALL }), line, { exit: 1, tests: { ...NAMES } });
  });

  test("two packages are two runners", () => {
    const files = { ...MODULE, "p/a_test.go": head("p"), "q/a_test.go": head("q") };
    const tests = { ...FIRST, "q > TestFirst": "passed" } as const;
    expectReport(projectWith(files), "go test -count=1 ./...", { exit: 0, tests, runners: 2 });
  });

  test.each([
    ["TestMain", "func TestMain(m *testing.M) { os.Exit(0) }"],
    ["init", "func init() { os.Exit(0) }"],
  ])("os.Exit(0) in %s leaves no end", (_, code) => {
    expectReport(withCode(code), "go test -count=1 ./...", { exit: 0, tests: {}, ended: 0 });
  });

  test("a red suite whose TestMain exits 0 has its failed name", () => {
    const code = "func TestBad(t *testing.T) { t.Fail() }\nfunc TestMain(m *testing.M) { m.Run(); os.Exit(0) }";
    const tests = { ...FIRST, "p > TestBad": "failed" } as const;
    expectReport(withCode(code), "go test -count=1 ./...", { exit: 0, tests });
  });

  test("a panic", () => {
    const { exit, named } = withCode("func TestBad(t *testing.T) { panic(1) }").run("go test ./...");
    expect([exit, named?.tests, named?.ended]).toEqual([1, { ...FIRST, "p > TestBad": "failed" }, 0]);
  });

  test("a failing go vet still fails", () => {
    const project = withCode('func TestVet(t *testing.T) { fmt.Printf("%d", "x") }');
    expect([project.run("go vet ./...").exit, project.plain("go vet ./...").exit]).toEqual([2, 2]);
  });

  test("flags that go env keeps are joined", () => {
    const project = projectWith({ ...MODULE, "a_test.go": `//go:build special\n\n${head("ex")}` });
    const { named } = project.run(`go env -w GOFLAGS=-tags=special; go test ./...`);
    expect(named).toBeNull();
    expect(project.run("go test ./...").named?.tests).toEqual({ ". > TestFirst": "passed" });
  });
});
