"""Forks a child for each candidate, watches it, and answers how it ended.

One thread, one loop. Requests and answers are lines of JSON on a socket; when that closes, the
supervisor ends all children and returns. A child's word comes through `report`, its output
through pipes, its end through SIGCHLD; none of them can keep the loop waiting.
"""

import collections
import json
import os
import selectors
import shutil
import signal
import socket
import time

import limits
import workdir
from output import Output
from report import DECLINED, Report, of_exception

_TICK = 0.05
_BUSY = 0.005  # seconds of CPU time that are more than waking up to look around
_LAST_WORDS = 0.3  # seconds in which a child whose time is up may tell where it stands
_WALL = 4  # wall clock seconds for each second of CPU time that a child may take: others use the machine too


class Child:
    """A process that runs a program, as its supervisor sees it, or many, one after another (`in_turn`).

    What those print is not kept.
    """

    def __init__(self, root):
        self.root = root
        self.report = Report()
        self.channel, self.theirs = socket.socketpair()  # another program goes there, a byte comes when it is done
        self.outputs = []
        self.pid = 0

    def begin(self, request):
        """It has come to a program."""
        self.is_fresh = not self.pid  # it has run no other
        self.report.clear()
        self.request = request
        self.killed, self.starved = None, False
        self.doomed = 0.0  # when to kill it, once it is to be killed
        self.cpu_before = self.used = limits.cpu_seconds(self.pid) if self.pid else 0.0
        self.started = self.active = time.monotonic()

    def exceeds_time(self):
        """Whether the program that it runs now takes too long: by CPU time, or idle, or by the clock.

        CPU time does not matter where it is asked whether the program hangs.
        """
        cpu_seconds = limits.cpu_seconds(self.pid)
        if cpu_seconds - self.used > _BUSY or limits.has_work(self.pid):
            self.used, self.active = cpu_seconds, time.monotonic()
        limit, is_idle = self.request["limit"], time.monotonic() - self.active > self.request["idle"]
        if self.request["sample"]:
            return is_idle or self.age() > limit
        if is_idle or cpu_seconds - self.cpu_before > limit:
            return True
        self.starved = self.age() > _WALL * limit
        return self.starved

    def age(self):
        return time.monotonic() - self.started

    def outcome(self, status, seconds):
        """How its program ended, by its word, its exit status, and what was done to it."""
        told = self.report.read()
        if self.request["in_turn"]:
            is_known = told and (self.request["abstract"] or not self.killed)  # killed after its word: see below
            return {"seconds": seconds, **(told[0] if is_known else self._end(status))}
        here = os.path.join(self.root, workdir.WORK, "")
        stdout, stderr = (output.text().replace(here, "") for output in self.outputs)
        compiles = [entry["compiled"] for entry in told if "compiled" in entry]
        told = told[len(compiles) :]
        outcome = {**self._end(status), "stdout": stdout, "stderr": stderr, "seconds": seconds, "compiles": compiles}
        if told and not self.killed:  # killed after its word: it did not come to an end
            outcome.update(told[0])
        return outcome

    def close(self):
        """Leave nothing of it."""
        for one in (self.channel, self.report):
            one.close()
        workdir.remove(self.root)

    def _end(self, status):
        if self.killed:
            return {"end": self.killed, "starved": self.starved}
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            return {"end": "timeout" if number == signal.SIGXCPU else "signal", "signal": number}
        return {"end": "exit", "code": os.WEXITSTATUS(status)}


class Supervisor:
    """`life(request, path, report, channel)` is what a child does, inside its working directory.

    It raises SystemExit if the interpreter is to come to its own end. `learn(names)` is told of modules that a child
    has imported, and nothing else has changed there.
    """

    def __init__(self, channel, spec, life, learn):
        self.channel = channel
        self.spec = spec
        self.life = life
        self.learn = learn
        self.contents = workdir.layout(spec["folder"]) if spec["folder"] else ((), ())
        # They are copies already; what a candidate does to them may at worst mislead those after it.
        self.link = spec["confined"] or not workdir.is_small(spec["folder"], self.contents)
        self.waiting = collections.deque()
        self.running = {}
        self.resting = []  # those that wait for another program
        self.count = 0
        self.received = b""
        self.selector = selectors.DefaultSelector()
        self.wake, wake = socket.socketpair()
        self.wake.setblocking(False)
        wake.setblocking(False)
        self.signals = wake
        signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the main job, which ends us
        self.selector.register(channel, selectors.EVENT_READ, self._receive)
        self.selector.register(self.wake, selectors.EVENT_READ, self._woken)

    def serve(self):
        """Answer requests until the other side goes."""
        self.open = True
        while self.open:
            while self.waiting and len(self.running) < self.spec["jobs"]:
                self._start(self.waiting.popleft())
            for key, _ in self.selector.select(_TICK if self.running else None):
                key.data()
            self._reap()
            self._enforce_limits()
        for child in [*self.running.values(), *self.resting]:
            limits.kill(child.pid)
            os.waitpid(child.pid, 0)

    def answer(self, message):
        try:
            self.channel.sendall(json.dumps(message).encode() + b"\n")
        except OSError:
            self.open = False

    def _receive(self):
        try:
            data = self.channel.recv(1 << 20)
        except OSError:
            data = b""
        if not data:
            self.open = False
            return
        *lines, self.received = (self.received + data).split(b"\n")
        self.waiting += map(json.loads, lines)

    def _start(self, request):
        child = self._rested(request) or self._forked(request)
        self.running[child.pid] = child

    def _rested(self, request):
        """A child that has run other programs and has been given this one too, if there is any."""
        if not request["in_turn"] or request["watch"] is not None or "fresh" in request:
            return None
        for child in [child for child in self.resting if child.request["abstract"] == request["abstract"]]:
            self.resting.remove(child)
            if child.request["nice"] == request["nice"]:
                child.begin(request)
                try:
                    child.channel.sendall(json.dumps(request["text"]).encode() + b"\n")
                    return child
                except OSError:
                    pass  # it has died at rest
            limits.kill(child.pid)
            os.waitpid(child.pid, 0)
            self._close(child)
        return None

    def _forked(self, request):
        self.count += 1
        child = Child(os.path.join(self.spec["root"], "runs", str(self.count)))
        child.begin(request)
        path = workdir.make(child.root, request["text"], self.spec["folder"], self.contents, self.link)
        pipes = [] if request["in_turn"] else [os.pipe(), os.pipe()]
        request["parent"] = os.getpid()
        child.pid = os.fork()
        if child.pid == 0:
            try:
                self._become_child(child, path, pipes)
            except SystemExit:
                raise
            except BaseException as error:  # our own code failed: say so, and never go on as a second supervisor
                child.report.append(dict(of_exception(error, path), end="unknown"))
            os._exit(70)
        child.theirs.close()
        self.selector.register(child.channel, selectors.EVENT_READ, lambda: self._told(child))
        for read, write in pipes:
            os.close(write)
            child.outputs.append(Output(read))
            self.selector.register(read, selectors.EVENT_READ, lambda output=child.outputs[-1]: self._read(output))
        return child

    def _become_child(self, child, path, pipes):
        os.setsid()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number, (_, write) in enumerate(pipes):
            os.dup2(write, 1 + number)
        others = [*self.running.values(), *self.resting]
        for one in (self.selector, self.channel, self.wake, self.signals, child.channel, *(o.channel for o in others)):
            one.close()
        for descriptor in [*sum(pipes, ()), *(output.pipe for other in others for output in other.outputs)]:
            os.close(descriptor)
        self.life(child.request, path, child.report, child.theirs)

    def _read(self, output):
        if output.read() is False:
            self.selector.unregister(output.pipe)

    def _told(self, child):
        """A child has come to the end of its program and waits for another, or it is about to end."""
        try:
            is_ready = bool(child.channel.recv(1))
        except OSError:
            is_ready = False
        if is_ready and child.killed is None:
            del self.running[child.pid]
            seconds = limits.cpu_seconds(child.pid) - child.cpu_before
            self.answer({"id": child.request["id"], "outcome": child.outcome(0, seconds)})
            self.resting.append(child)
        else:
            self.selector.unregister(child.channel)

    def _woken(self):
        self.wake.recv(1 << 12)

    def _reap(self):
        """Answer for children that have ended, and end what they have left behind."""
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                break
            if pid in self.running:
                child = self.running.pop(pid)
                self._finish(child, status, usage.ru_utime + usage.ru_stime - child.cpu_before)
            for child in [child for child in self.resting if child.pid == pid]:
                self.resting.remove(child)
                self._close(child)
        self._end_orphans()

    def _finish(self, child, status, seconds):
        """Answer for a child that has ended, or leave its program to another where it has not run it."""
        limits.kill_group(child.pid)
        request = child.request
        for output in child.outputs:
            if output.pipe in self.selector.get_map():
                self.selector.unregister(output.pipe)
            output.close()
        if request["watch"] is not None and os.path.exists(workdir.observation(child.root)):
            shutil.move(workdir.observation(child.root), request["watch"]["out"])
        told = child.report.read()
        by_others = not child.is_fresh and (child.killed == "memory" or not (told or child.killed))
        if told == [DECLINED] or by_others:
            self.waiting.appendleft({**request, "fresh": True})
        else:
            outcome = child.outcome(status, seconds)
            self.answer({"id": request["id"], "outcome": outcome})
            self.learn(outcome.get("modules", ()))
        self._close(child)

    def _close(self, child):
        if child.channel.fileno() in self.selector.get_map():
            self.selector.unregister(child.channel)
        child.close()

    def _end_orphans(self):
        """Kill adopted processes whose candidate has ended; their own children come up, adopted, when they die."""
        known = {*self.running, *(child.pid for child in self.resting)}
        for pid in limits.children(os.getpid()):
            if pid not in known and limits.session(pid) not in known:
                limits.kill(pid)

    def _enforce_limits(self):
        for child in self.running.values():
            if child.killed is None:
                self._judge(child)
            if child.killed and time.monotonic() >= child.doomed:
                limits.kill(child.pid)

    def _judge(self, child):
        """Find out whether a child has to go; one of which it is asked where it hangs tells that first."""
        if child.exceeds_time():
            child.killed = "timeout"
            if child.request["sample"]:
                limits.ask_for_stack(child.pid)
                child.doomed = time.monotonic() + _LAST_WORDS
        elif child.age() > _TICK and limits.exceeds_memory(child.pid, self.spec["memory"]):
            child.killed = "memory"
