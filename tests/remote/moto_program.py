"""A moto server on the loopback interface that also takes commands, one JSON array per line, on standard input.

It prints its address, then one line of JSON per command, and ends when its standard input does. Commands create and
delete buckets, store thousands of small objects at once, and list keys and unfinished uploads without HTTP.
"""

from __future__ import annotations

import base64
import json
import logging
import os
import sys
from typing import Any

ACCOUNT = "123456789012"  # moto's account for any unknown access key


def run_command(backend: Any, name: str, bucket: str, *arguments: Any) -> Any:
    """Run one command on moto's S3 backend."""
    match name:
        case "create":
            backend.create_bucket(bucket, "us-east-1")
        case "delete":
            stored = backend.buckets.pop(bucket)
            for key in list(stored.keys.values()):
                key.dispose()
        case "fill":
            keys, data = arguments
            for key in keys:
                backend.put_object(bucket, key, base64.b64decode(data))
        case "keys":
            return sorted(backend.buckets[bucket].keys)
        case "uploads":
            return sorted(upload.key_name for upload in backend.buckets[bucket].multiparts.values())
        case _:
            raise ValueError(f"unknown command {name}")
    return None


def main() -> None:
    """Serve until standard input ends."""
    os.environ["S3_UPLOAD_PART_MIN_SIZE"] = "1"  # S3 has 5 MiB, which would make tests of many parts slow.
    from moto.s3.models import s3_backends
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    print(f"http://{host}:{port}", flush=True)
    backend = s3_backends[ACCOUNT]["aws"]
    for line in sys.stdin:
        print(json.dumps(run_command(backend, *json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
