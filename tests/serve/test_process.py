"""`yarrow serve` as a process: it stops gently, restarts without a refusal, dies without a loss."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest
from serve.support import files_of, labelled_rows

from yarrow.serve.client import Client
from yarrow.serve.errors import ServiceError
from yarrow.serve.service import Service

ROWS = labelled_rows(400, seed=8)


@contextmanager
def process(data, *options, **more):
    """A service, and its address."""
    place = ["--data", str(data)] if data else []
    command = [sys.executable, "-m", "yarrow", "serve", *place, *map(str, options)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **more) as found:
        try:
            found.url = found.stdout.readline().strip()
            yield found
        finally:
            found.kill()


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def test_it_stops_gently_and_goes_on(tmp_path):
    with process(tmp_path / "data", "--port", 0) as service, Client(service.url) as client:
        client.create("m", {"learner": "arow"})
        client.learn_many("m", ROWS[:50])
        service.send_signal(signal.SIGTERM)
        assert service.wait(30) in (0, -signal.SIGTERM)
    with process(tmp_path / "data", "--port", 0) as service, Client(service.url) as client:
        client.learn_many("m", ROWS[50:60])
        assert client.about("m").versions[0].rows == 60


def test_a_restart_refuses_nobody(tmp_path):
    """The listening socket outlives the process, as under systemd."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen(128)
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    stop = threading.Event()
    asked, failures = [], []

    def ask():
        while not stop.is_set():
            try:
                with urllib.request.urlopen(f"{url}/health", timeout=60) as answer:
                    asked.append(answer.status)
            except OSError as error:
                failures.append(repr(error))

    number = listening.fileno()
    with process(tmp_path / "data", "--fd", number, pass_fds=[number]) as first:
        thread = threading.Thread(target=ask)
        thread.start()
        while len(asked) < 20:
            time.sleep(0.01)
        first.send_signal(signal.SIGTERM)
        first.wait(30)
    seen = len(asked)
    with process(tmp_path / "data", "--fd", number, pass_fds=[number]):
        while len(asked) < seen + 20:
            time.sleep(0.01)
        stop.set()
        thread.join()
    listening.close()
    assert not failures
    assert set(asked) == {200}


@pytest.mark.slow
def test_killed_while_clients_learn(tmp_path):
    """Clients that try again see nothing of a kill: each label counts once."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen(128)
    number = listening.fileno()
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    done, failures = [], []

    def work(part):
        with Client(url, retries=12) as client:
            for x, y in ROWS[part::4]:
                try:
                    done.append(client.learn("m", x, y).event)
                except ServiceError as error:
                    failures.append(str(error))

    threads = [threading.Thread(target=work, args=(part,)) for part in range(4)]
    for round in range(4):
        with process(tmp_path / "data", "--fd", number, pass_fds=[number]) as service:
            if round == 0:
                with Client(url) as client:
                    client.create("m", {"learner": "arow"})
                for thread in threads:
                    thread.start()
            seen = len(done)
            while any(thread.is_alive() for thread in threads) and len(done) < seen + 90:
                time.sleep(0.005)
            if round == 3:
                for thread in threads:
                    thread.join()
            os.kill(service.pid, signal.SIGKILL)
    listening.close()
    assert not failures
    assert len(set(done)) == len(done) == len(ROWS)
    with Service(tmp_path / "data") as service:
        assert service.live(service.model("m").champion).t_ == len(ROWS)


def test_an_erasure_that_was_acknowledged_outlives_a_kill(tmp_path):
    """Its bytes are gone by then, and its proof is there: also where the process dies at once."""
    with process(tmp_path / "data", "--port", 0) as service, Client(service.url) as client:
        client.create("m", {"learner": "arow"})
        for i in range(20):
            client.learn("m", {"SECRET" if i == 7 else f"w{i % 3}": 1.0}, "ab"[i % 2], id=f"{i}")
        told = client.undo("m", ids=["7"], erase=True, id="erasure")
        service.kill()
        service.wait()
        assert b"SECRET" not in files_of(tmp_path / "data")
    with process(tmp_path / "data", "--port", 0) as service, Client(service.url) as client:
        again = client.undo("m", ids=["7"], erase=True, id="erasure")
        assert (again.event, again.labels, again.before) == (told.event, 1, told.before)
        proof = client._ask("GET", f"/models/m/erasures/{told.event}", None, dict)
        assert proof["equal"]
        assert proof["before"] == told.before != proof["after"]


def test_tokens_are_made_by_the_command(tmp_path):
    command = [sys.executable, "-m", "yarrow", "serve", "--data", str(tmp_path / "data")]
    made = subprocess.run([*command, "--new-token", "ops:admin"], capture_output=True, text=True)
    token = made.stdout.strip()
    assert len(token) >= 43
    with process(tmp_path / "data", "--port", 0) as service:
        with Client(service.url, token=token) as client:
            assert client.models() == []
        with Client(service.url, retries=0) as client, pytest.raises(ServiceError, match="token"):
            client.models()
        again = subprocess.run([*command, "--port", "0"], capture_output=True, text=True)
        assert again.returncode == 2
        assert "another service works in this directory" in again.stderr


def test_others_are_let_in_with_a_token_only(tmp_path):
    command = [sys.executable, "-m", "yarrow", "serve", "--data", str(tmp_path / "data")]
    with socket.socket() as listening:
        listening.bind(("0.0.0.0", 0))
        number = listening.fileno()
        for options in (["--host", "0.0.0.0", "--port", "0"], ["--fd", str(number)]):
            found = subprocess.run(
                [*command, *options], capture_output=True, text=True, pass_fds=[number], timeout=60
            )
            assert found.returncode == 2
            assert "create a token first" in found.stderr


def test_what_it_tells_is_json(tmp_path):
    with process(tmp_path / "data", "--port", 0, stderr=subprocess.PIPE) as service:
        with Client(service.url) as client:
            client.create("m", {"learner": "arow"})
            client.learn_many("m", ROWS[:50])
            client.predict("m", {"a row of nothing that it knows": 1.0})  # of which Python warns
        service.send_signal(signal.SIGTERM)
        told = [json.loads(line) for line in service.stderr]
    assert [line["message"] for line in told] == ["serving", "create", "stopped"]
    assert told[1]["path"] == "/models/m"
    assert (tmp_path / "data").stat().st_mode & 0o077 == 0


def test_a_port_that_is_taken(tmp_path):
    command = [sys.executable, "-m", "yarrow", "serve", "--data", str(tmp_path / "data")]
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen(1)
        port = str(taken.getsockname()[1])
        for options in (["--port", port], ["--port", "0", "--vw-port", port]):
            found = subprocess.run([*command, *options], capture_output=True, text=True, timeout=60)
            assert found.returncode == 2
            assert found.stderr.count("\n") == 1, found.stderr
            assert "Cannot listen on" in found.stderr


def test_lines_of_vw_that_come_together_are_answered_in_order(tmp_path):
    """Each as if the ones before it had been learned: the same as one by one."""
    lines = [b"%d | f%d g%d" % (1 - 2 * (i % 2), i % 2, i % 5) for i in range(300)]
    lines[7] = b"no bar"
    answers = []
    for at_once in (True, False):
        port = free_port()
        data = tmp_path / str(at_once)
        with (
            process(data, "--port", 0, "--vw-port", port) as service,
            socket.create_connection(("127.0.0.1", port)) as connection,
        ):
            file = connection.makefile("rb")
            if at_once:
                connection.sendall(b"\n".join(lines))  # without the last end of line
                connection.shutdown(socket.SHUT_WR)
                answers.append(file.read().splitlines())
            else:
                answers.append([])
                for line in lines:
                    connection.sendall(line + b"\n")
                    answers[-1].append(file.readline().rstrip(b"\n"))
            with Client(service.url) as client:
                assert client.about("vw").versions[0].rows == 299
    assert answers[0] == answers[1]
    assert len(answers[0]) == 300


def test_a_demo_that_learns(tmp_path):
    with process(
        None, "--demo", "--port", 0, env=os.environ | {"TMPDIR": str(tmp_path)}
    ) as service:
        with Client(service.url) as client:
            while min(version.rows for version in client.about("demo").versions) < 30:
                time.sleep(0.05)
        page = urllib.request.urlopen(service.url + "/").read()
        assert b"yarrow" in page
    command = [sys.executable, "-m", "yarrow", "serve"]
    found = subprocess.run(command, capture_output=True, text=True)
    assert found.returncode == 2
    assert "--data DIR" in found.stderr


def test_clients_of_vw(tmp_path):
    port = free_port()
    with process(tmp_path / "data", "--port", 0, "--vw-port", port) as service:
        with socket.create_connection(("127.0.0.1", port)) as connection:
            lines = connection.makefile("rwb")

            def say(line):
                lines.write(line + b"\n")
                lines.flush()
                return lines.readline().decode().rstrip("\n")

            assert say(b"1 'first|f x y") == "0 first"
            for _ in range(3):
                say(b"-1 | z")
                say(b"1 | x")
            assert say(b"| z") == "-1"
            assert say(b"'tag| x") == "1 tag"
            assert say(b"1 | x:1:1").startswith("error: ")
            assert say(b"| x") == "1"
        with Client(service.url) as client:
            assert client.about("vw").versions[0].rows == 7


def test_a_page_cannot_teach_by_the_port_of_vw(tmp_path):
    """A browser sends what a stranger's page says to any port of this machine, as HTTP."""
    port = free_port()
    with process(tmp_path / "data", "--port", 0, "--vw-port", port) as service:
        with socket.create_connection(("127.0.0.1", port), timeout=10) as browser:
            browser.sendall(b"POST /?a HTTP/1.1\r\nHost: localhost\r\n\r\n1 | evil\n-1 | evil\n")
            answer = browser.makefile("rb").read()
        assert answer == b"error: the lines of vw come here, no HTTP\n"
        with Client(service.url) as client:
            assert client.about("vw").versions[0].rows == 0


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_the_systemd_units_are_some(tmp_path):
    """With a command that is there, since yarrow need not be in the system's path."""
    source = Path(__file__).parents[2] / "examples" / "serve"
    for name in ("yarrow-serve.socket", "yarrow-serve.service"):
        text = (source / name).read_text()
        assert "yarrow serve --data" in text or name.endswith("socket")
        (tmp_path / name).write_text(text)
    units = [str(path) for path in tmp_path.iterdir()]
    found = subprocess.run(["systemd-analyze", "verify", *units], capture_output=True, text=True)
    complaints = [line for line in found.stderr.splitlines() if "yarrow" in line]
    assert (found.returncode, complaints) == (0, [])
