# Samples of operations, as in operations.ts. They need the package requests.
import os
import requests

url = os.environ["API_URL"]
session = requests.Session()
session.headers["Authorization"] = f"Bearer {os.environ['API_KEY']}"

# listPets
response = session.get(f"{url}/pets", params={"status": "available"}, timeout=30)
response.raise_for_status()
print(response.json(), response.links.get("next"))

# createPet
response = session.post(f"{url}/pets", json={"name": "Luna", "categoryId": 1}, timeout=30)
response.raise_for_status()
print(response.json())

# getPet
response = session.get(f"{url}/pets", params={"id": [1]}, timeout=30)
response.raise_for_status()
print(response.json())

# changePet
# The key needs the scope pets:manage.
response = session.patch(f"{url}/pets/1", json={"name": "Bella"}, timeout=30)
response.raise_for_status()
print(response.json())

# placeOrder
response = session.post(f"{url}/store/orders", json={"petId": 1}, timeout=30)
response.raise_for_status()
print(response.json())

# listEvents
import time

page = f"{url}/events"
while True:
    response = session.get(page, timeout=30)
    response.raise_for_status()
    for event in response.json():
        print(event["type"], event["data"]["id"])
    if not response.json():
        time.sleep(5)
    page = response.links["next"]["url"]
