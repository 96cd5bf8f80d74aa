# Receives a webhook's events: each signed, each once, in any order. WEBHOOK_SECRET is the webhook's secret.
import base64
import hmac
import json
import os
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))
# In a database, write both in the transaction that does the work.
seen, latest = set(), {}
lock = threading.Lock()


def is_signed(headers, body):
    sent = headers.get("webhook-timestamp", "")
    if not sent.isdecimal() or abs(time.time() - int(sent)) > 300:
        return False
    signed = f"{headers.get('webhook-id')}.{sent}.".encode() + body
    right = b"v1," + base64.b64encode(hmac.digest(KEY, signed, "sha256"))
    # There is one signature for each secret that signs.
    signatures = headers.get("webhook-signature", "").split()
    return any(hmac.compare_digest(right, each.encode()) for each in signatures)


def handle(event_id, event):
    if event_id in seen:
        return
    seen.add(event_id)
    kind, data = event["type"], event["data"]
    if not kind.startswith("pet."):
        print(kind, flush=True)
    # If not, a newer event has come before this one. Keep the sequence of a removed animal too.
    elif event["sequence"] >= latest.get(data["id"], 0):
        latest[data["id"]] = event["sequence"]
        print(f"animal {data['id']}: {'withdrawn' if kind == 'pet.removed' else data['name']}", flush=True)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        is_right = is_signed(self.headers, body)
        if is_right:
            with lock:
                handle(self.headers["webhook-id"], json.loads(body))
        self.send_response(204 if is_right else 400)
        self.end_headers()


server = ThreadingHTTPServer(("", int(os.environ.get("PORT", "8080"))), Receiver)
print("port:", server.server_port, flush=True)
server.serve_forever()
