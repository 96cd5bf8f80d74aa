# Lists animals, adds one, and finds it by its id. Needs Python 3.9 or later, and no package.
import http.client
import json
import os
import sys
import urllib.error
import urllib.request

try:
    API_URL, API_KEY = os.environ["API_URL"], os.environ["API_KEY"]
except KeyError as missing:
    sys.exit(f"{missing.args[0]} is not set")
# http.client would repeat the key in its error.
if not (API_KEY.isascii() and API_KEY.isprintable()):
    sys.exit("API_KEY is not an API key")


def call(path, body=None):
    data = None if body is None else json.dumps(body).encode()
    try:
        request = urllib.request.Request(API_URL + path, data, {"Content-Type": "application/json"})
        # A redirect would not get the key.
        request.add_unredirected_header("Authorization", f"Bearer {API_KEY}")
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        text = error.read().decode(errors="replace")
        sys.exit(f"{text}\nrequest id: {error.headers['X-Request-Id']}")
    except (OSError, ValueError, http.client.HTTPException) as error:
        sys.exit(f"{API_URL} gave no answer: {error}")


print(call("/pets?status=available&limit=20"))

added = call("/pets", {"name": "Luna", "categoryId": 1, "status": "available"})
print(added)
print(call(f"/pets?id={added['id']}"))
