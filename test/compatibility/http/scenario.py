"""The scenario with Python's requests: `scenario.py URL TOKEN OTHER_TOKEN`. It prints the version of requests."""

import base64
import io
import sys

import requests

url, token, other_token = sys.argv[1:]
mine, others = requests.Session(), requests.Session()
mine.headers["Authorization"] = f"Bearer {token}"
others.headers["Authorization"] = f"Bearer {other_token}"

PICTURE = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")


def data(response):
    assert response.ok, f"{response.request.method} {response.url}: {response.status_code} {response.text}"
    return response.json()["data"]


def refused(response, code):
    assert response.json()["error"]["code"] == code, f"{response.request.method} {response.url}: {response.text}"


board = data(mine.post(f"{url}/boards/", json={"name": "Spring"}))["id"]
columns = [data(mine.post(f"{url}/boards/{board}/columns", json={"name": name}))["id"] for name in ("To do", "Doing")]
label = data(mine.post(f"{url}/boards/{board}/labels", json={"name": "urgent", "color": "#aa3300"}))["id"]
card = data(mine.post(f"{url}/boards/{board}/cards", json={"column_id": columns[0], "title": "Straße nach Köln", "label_ids": [label]}))["id"]


def find():
    # requests writes True and False, and repeats the names of lists.
    query = {"q": "koln strasse", "board_id": board, "column_id": columns, "include": ["claim", "etag"], "archived": False, "limit": 5}
    (found,) = data(mine.get(f"{url}/cards", params=query))
    return found


etag = find()["etag"]
epoch = data(mine.put(f"{url}/cards/{card}/claim", json={"ttl": 60}))["epoch"]
assert find()["claim"]["epoch"] == epoch
data(mine.post(f"{url}/cards/{card}/claim/question", json={"question": "Which color?"}, headers={"If-Claim": str(epoch)}))
data(others.post(f"{url}/cards/{card}/answer", json={"body": "Green."}))
epoch = data(mine.put(f"{url}/cards/{card}/claim"))["epoch"]
data(mine.post(f"{url}/cards/{card}/claim/failure", json={"reason": "No paint.", "retry_after": 0}, headers={"If-Claim": str(epoch)}))
last = data(mine.put(f"{url}/cards/{card}/claim"))["epoch"]
refused(mine.put(f"{url}/cards/{card}/completion", json={"completed": True}, headers={"If-Claim": str(epoch)}), "precondition_failed")
data(mine.put(f"{url}/cards/{card}/completion", json={"completed": True}, headers={"If-Claim": str(last)}))

# requests gives a part no type, and the name as `filename*`, if it is not ASCII.
picture = data(mine.post(f"{url}/cards/{card}/files", files={"file": ("Straße.png", io.BytesIO(PICTURE))}))
assert picture["name"] == "Straße.png", picture
assert picture["content_type"] == "image/png", picture
notes = data(mine.post(f"{url}/cards/{card}/files", files={"file": ("notes.txt", "Bring the keys.\n")}))
assert notes["content_type"] == "text/plain", notes
assert mine.get(f"{url}/attachments/{notes['id']}/content").text == "Bring the keys.\n"

refused(mine.patch(f"{url}/cards/{card}", json={"title": "stale"}, headers={"If-Match": etag}), "precondition_failed")
data(mine.patch(f"{url}/cards/{card}", json={"title": "done"}, headers={"If-Match": find()["etag"]}))
refused(others.put(f"{url}/boards/{board}/visibility", json={"visibility": "private"}), "forbidden")
refused(mine.delete(f"{url}/boards/{board}"), "insufficient_scope")
assert mine.post(f"{url}/boards", params={"dry_run": True}, json={"name": "x"}).headers["Dry-Run"] == "true"
print(requests.__version__)
