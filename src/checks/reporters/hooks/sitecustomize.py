"""Pawl: one line for each test of pytest and unittest, into PAWL_REPORT_DIR. It changes nothing else."""
import os
import sys

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
RANK = {SKIPPED: 0, PASSED: 1, FAILED: 2}
active = [False]


def clean_environment():
    """Only the outermost runner reports: what its tests start must find no trace of us."""
    for name in os.environ.pop("PAWL_REPORT_VARS", "").split():
        before = os.environ.pop("PAWL_WAS_" + name, None)
        if before is not None:
            os.environ[name] = before
        else:
            os.environ.pop(name, None)
    os.environ.pop("PAWL_REPORT_DIR", None)


def begin(runner, version):
    """Returns the function that appends a line. The file is opened for each: a test may close or reuse descriptors."""
    import json
    import time

    folder, me = FOLDER, os.getpid()
    path = os.path.join(folder, "%s-%d-%d.ndjson" % (runner, me, time.time() * 1e6))
    dumps, getpid, opened, write, close = json.dumps, os.getpid, os.open, os.write, os.close
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT

    def line(**fields):
        if getpid() != me:
            return
        try:
            handle = opened(path, flags, 0o600)
            try:
                write(handle, (dumps(fields) + "\n").encode("ascii"))
            finally:
                close(handle)
        except Exception:
            pass

    line(ev="start", runner=runner, version=version, cwd=os.getcwd())
    active[0] = True
    clean_environment()
    return line


def worse(a, b):
    return a if a is not None and RANK[a] >= RANK[b] else b


# ── pytest ──────────────────────────────────────────────────────────────────


class PytestReport:
    def __init__(self):
        self.root, self.line, self.open, self.others = "", None, {}, set()

    def place(self, nodeid):
        file, _, name = nodeid.partition("::")
        plain, bracket, values = name.partition("[")
        path = plain.split("::")
        path[-1] += bracket + values
        return {"file": os.path.join(self.root, file), "name": path}

    def say(self, nodeid, status):
        self.line(ev="test", status=status, **self.place(nodeid))

    def pytest_sessionstart(self, session):
        import pytest

        config = session.config
        if hasattr(config, "workerinput"):
            return
        self.root = str(getattr(config, "rootpath", None) or getattr(config, "rootdir", ""))
        self.line = begin("pytest", pytest.__version__)

    def pytest_collectreport(self, report):
        if self.line and report.failed:
            self.say_other(report.nodeid + "::(collection)", FAILED)

    def pytest_deselected(self, items):
        for item in items if self.line else ():
            self.say_other(item.nodeid, SKIPPED)

    def say_other(self, nodeid, status):
        """Not among what pytest counts as collected; workers may tell it more than once."""
        if nodeid not in self.others:
            self.others.add(nodeid)
            self.say(nodeid, status)

    def pytest_runtest_logreport(self, report):
        if not self.line:
            return
        key = (report.nodeid, getattr(getattr(report, "node", None), "gateway", None))
        if report.outcome == "rerun":
            self.open[key] = "rerun"
        elif self.open.get(key) != "rerun":
            is_told = report.when == "call" or report.outcome != PASSED
            self.open[key] = worse(self.open.get(key), report.outcome) if is_told else self.open.get(key)
        if report.when not in ("setup", "call"):
            status = self.open.pop(key, None)
            if status in RANK:
                self.say(report.nodeid, status)

    def pytest_sessionfinish(self, session):
        if self.line:
            self.line(ev="end", total=session.testscollected + len(self.others))
            self.line, active[0] = None, False


def patch_pytest(module):
    get_config = module.get_config

    def with_report(*args, **kwargs):
        config = get_config(*args, **kwargs)
        try:
            if not active[0] and FOLDER:
                config.pluginmanager.register(PytestReport(), "pawl-report")
        except Exception:
            pass
        return config

    module.get_config = with_report


# ── unittest ────────────────────────────────────────────────────────────────


def flatten(suite):
    for test in suite:
        try:
            yield from flatten(test)
        except TypeError:
            yield test


class UnittestReport:
    def __init__(self, suite, result):
        self.open, self.seen, self.result, self.others = {}, set(), result, 0
        self.all = [test for test in flatten(suite) if hasattr(test, "id")]
        self.line = begin("unittest", "%d.%d.%d" % sys.version_info[:3])
        for method, status in (
            ("addSuccess", PASSED),
            ("addFailure", FAILED),
            ("addError", FAILED),
            ("addSkip", SKIPPED),
            ("addExpectedFailure", SKIPPED),
            ("addUnexpectedSuccess", FAILED),
        ):
            self.wrap(method, lambda status, test, *_: self.note(test, status), status)
        self.wrap("addSubTest", lambda _, test, part, error: error and self.note(test, FAILED))
        self.wrap("stopTest", lambda _, test: self.close(test))

    def wrap(self, method, note, status=None):
        before = getattr(self.result, method)

        def wrapped(*args, **kwargs):
            try:
                note(status, *args)
            except Exception:
                pass
            return before(*args, **kwargs)

        setattr(self.result, method, wrapped)

    def note(self, test, status):
        test = getattr(test, "test_case", test)
        if hasattr(test, "_testMethodName") or hasattr(test, "_dt_test"):
            self.open[test.id()] = worse(self.open.get(test.id()), status)
        else:
            self.others += 1
            self.say(test, status)

    def close(self, test):
        status = self.open.pop(test.id(), None)
        if status is not None:
            self.say(test, status)

    def say(self, test, status):
        self.seen.add(test.id())
        module = type(test).__module__
        file = "" if module.startswith("unittest.") else getattr(sys.modules.get(module), "__file__", None)
        self.line(ev="test", file=os.path.abspath(file) if file else "", name=[test.id()], status=status)

    def end(self):
        """A class whose setUpClass skips has tests that are never started. After a stop they are missing instead."""
        if not getattr(self.result, "shouldStop", False):
            for test in self.all:
                if test.id() not in self.seen:
                    self.say(test, SKIPPED)
        self.line(ev="end", total=len(self.all) + self.others)
        active[0] = False


def patch_unittest(module):
    call = module.BaseTestSuite.__call__

    def with_report(self, *args, **kwargs):
        report = None
        try:
            if not active[0] and FOLDER and args and self.countTestCases() > 0:
                report = UnittestReport(self, args[0])
        except Exception:
            pass
        returned = call(self, *args, **kwargs)
        if report is not None:
            report.end()
        return returned

    module.BaseTestSuite.__call__ = with_report


# ── Compiled files ──────────────────────────────────────────────────────────


def use_library_bytecode():
    """PYTHONPYCACHEPREFIX is empty at each start, so that no compiled file of the project counts, old or forged. The
    library's own are used where they are: compiling it takes half a second. A link is not followed out of it."""
    import importlib._bootstrap_external as loader
    import site

    path_in_prefix, real, known = loader.cache_from_source, os.path.realpath, {}
    folders = [os.path.dirname(os.__file__), site.getusersitepackages()] + site.getsitepackages()
    library = tuple(real(folder) + os.sep for folder in folders)

    def is_library(folder):
        if folder not in known:
            known[folder] = (real(folder) + os.sep).startswith(library)
        return known[folder]

    def path_of(path, *args, **kwargs):
        folder = path.rpartition(os.sep)[0]
        compiled = path_in_prefix(path, *args, **kwargs)
        if not is_library(folder):
            return compiled
        return os.sep.join((folder, "__pycache__", os.path.basename(compiled)))

    loader.cache_from_source = path_of


# ── When they are imported ──────────────────────────────────────────────────


class Finder:
    PATCHES = {"_pytest.config": patch_pytest, "unittest.suite": patch_unittest}

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        patch = cls.PATCHES.get(name)
        if patch is None:
            return None
        for finder in sys.meta_path:
            spec = finder.find_spec(name, path, target) if finder is not cls and hasattr(finder, "find_spec") else None
            if spec is not None:
                cls.watch(spec, patch)
                return spec
        return None

    @staticmethod
    def watch(spec, patch):
        try:
            run = spec.loader.exec_module

            def exec_module(module):
                run(module)
                try:
                    patch(module)
                except Exception:
                    pass

            spec.loader.exec_module = exec_module
        except Exception:
            pass


def load_next():
    """The project, or the system, may have a file of this name: ours hides it."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    mine = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # noqa: F401
    except ImportError as error:
        if getattr(error, "name", None) != "sitecustomize":
            raise
    finally:
        if mine is not None:
            sys.modules.setdefault("sitecustomize", mine)


FOLDER = os.environ.get("PAWL_REPORT_DIR")
if FOLDER and sys.version_info >= (3, 6):
    sys.meta_path.insert(0, Finder)
    try:
        use_library_bytecode()
    except Exception:
        pass
load_next()
