"""The same whole work as an armed Stop that moves a stage, written plainly: the peer to compare with."""
import hashlib
import hmac
import json
import os
import re
import sys
import time

NEXT = {"memory": ("MEMORY_UPDATED", "review"), "review": ("REVIEW_COMPLETE", "cleanup")}


def outside_fences(text):
    fenced = False
    for line in text.split("\n"):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield line


def last_signal(text):
    found = None
    for line in outside_fences(text):
        match = re.fullmatch(r"\s{0,3}<promise>([A-Z_]+)</promise>\s*", line)
        if match:
            found = match.group(1)
    return found


SEALED = '{"seal":"'


def mac(key, context, text):
    return hmac.digest(key, b"%d:%s%s" % (len(context), context.encode(), text.encode()), "sha256").hex()


def unseal(key, context, path):
    with open(path) as file:
        text = file.read()
    body = "{" + text[len(SEALED) + 66:]
    if text[len(SEALED):len(SEALED) + 64] != mac(key, context, body):
        raise ValueError(path)
    return json.loads(body)


def seal(key, context, text):
    return '%s%s",%s' % (SEALED, mac(key, context, text), text[1:])


def sync_folder(folder):
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    os.fsync(fd)
    os.close(fd)


def publish(folder, text, put, synced=True):
    """A complete file under a name nobody reads, then made visible in one step."""
    temp = os.path.join(folder, ".peer-%d" % os.getpid())
    fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    os.write(fd, text.encode())
    if synced:
        os.fsync(fd)
    os.close(fd)
    put(temp)
    if os.path.exists(temp):
        os.unlink(temp)
    if synced:
        sync_folder(folder)


def append(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
    os.write(fd, text.encode())
    os.close(fd)


def document(run, at):
    done = run["done"]
    lines = ["---", "step: %d" % (1 + len(done))]
    lines += ["%s: %s" % (key, str(stage in done).lower()) for key, stage in
              (("memory_updated", "memory"), ("review_complete", "review"), ("cleanup_done", "cleanup"))]
    lines += ["commit_hash: null", 'last_promise: "%s"' % run["last_signal"], 'timestamp: "%s"' % at, "---", ""]
    return "\n".join(lines)


def main():
    event = json.load(sys.stdin)
    pointer_path = os.path.join(os.environ["HOME"], ".local/state/pawl/sessions/claude-" + event["session_id"])
    try:
        with open(pointer_path) as file:
            pointer = json.load(file)
    except FileNotFoundError:
        return
    folder = os.path.join(pointer["root"], ".pawl/runs", pointer["run"])
    newest = max(name for name in os.listdir(folder) if name[0].isdigit())
    with open(os.path.join(os.environ["HOME"], ".local/share/pawl/key"), "rb") as file:
        key = file.read()
    context = "run/%s/" % pointer["run"]
    run = unseal(key, context + str(int(newest[:-5])), os.path.join(folder, newest))["run"]
    workflow = unseal(key, context + "workflow", os.path.join(folder, "workflow.json"))
    signal = last_signal(event["last_assistant_message"])
    expected, to = NEXT[run["stage"]]
    if signal != expected:
        return
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    run["done"][run["stage"]] = {"at": at, "signal": signal}
    run.update(seq=run["seq"] + 1, stage=to, last_signal=signal, updated_at=at)
    text = document(run, at)
    run["document"]["hash"] = hashlib.sha256(text.encode()).hexdigest()
    records = [{"kind": "signalled", "signal": signal}, {"kind": "advanced", "to": to}]
    commit = json.dumps({"run": run, "records": records, "effects": []})
    sealed = seal(key, context + str(run["seq"]), commit)
    publish(folder, sealed, lambda temp: os.link(temp, os.path.join(folder, "%06d.json" % run["seq"])))
    say = next(stage["say"] for stage in workflow["stages"] if stage["id"] == to)
    sys.stdout.write(json.dumps({"decision": "block", "reason": say}))
    sys.stdout.flush()
    path = os.path.join(pointer["root"], ".claude/work-completion.local.md")
    publish(os.path.dirname(path), text, lambda temp: os.rename(temp, path), synced=False)
    append(os.path.join(pointer["root"], ".claude/logs/work-completion.log"), "[%s] %s\n" % (at, signal))
    lines = [json.dumps({"v": 1, "at": at, "run": run["id"], "seq": run["seq"], "i": i, **record})
             for i, record in enumerate(records)]
    append(os.path.join(pointer["root"], ".pawl/journal", at[:7] + ".jsonl"), "\n" + "\n".join(lines) + "\n")


main()
