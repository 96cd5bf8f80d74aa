# Samples of operations, as in operations.ts. They need the package requests.
import os
import requests

url = os.environ["API_URL"]
session = requests.Session()
session.headers["Authorization"] = f"Bearer {os.environ['API_KEY']}"

# listPets
response = session.get(f"{url}/pets", params={"name": "mi", "status": "available"}, timeout=30)
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
response = session.patch(f"{url}/pets/1", json={"name": "Bella"}, timeout=30)
response.raise_for_status()
print(response.json())

# withdrawPet
response = session.delete(f"{url}/pets/1", timeout=30)
response.raise_for_status()
print(response.status_code)

# listCategories
response = session.get(f"{url}/categories", params={"limit": 100}, timeout=30)
response.raise_for_status()
print(response.json(), response.links.get("next"))

# createCategory
response = session.post(f"{url}/categories", json={"name": "Birds"}, timeout=30)
response.raise_for_status()
print(response.json())

# getCategory
response = session.get(f"{url}/categories/1", timeout=30)
response.raise_for_status()
print(response.json())

# nameCategory
response = session.put(f"{url}/categories/1", json={"name": "Big cats"}, timeout=30)
response.raise_for_status()
print(response.json())

# deleteCategory
response = session.delete(f"{url}/categories/1", timeout=30)
response.raise_for_status()
print(response.status_code)

# listOrders
response = session.get(f"{url}/store/orders", params={"status": "placed"}, timeout=30)
response.raise_for_status()
print(response.json(), response.links.get("next"))

# placeOrder
response = session.post(f"{url}/store/orders", json={"petId": 1}, timeout=30)
response.raise_for_status()
print(response.json())
response = session.post(f"{url}/store/orders/{response.json()['id']}/cancel", timeout=30)
response.raise_for_status()
print(response.json())

# getOrder
response = session.get(f"{url}/store/orders/1", timeout=30)
response.raise_for_status()
print(response.json())

# completeOrder
response = session.post(f"{url}/store/orders/1/complete", timeout=30)
response.raise_for_status()
print(response.json())

# cancelOrder
response = session.post(f"{url}/store/orders/1/cancel", timeout=30)
response.raise_for_status()
print(response.json())

# queueMessage
response = session.post(f"{url}/messages", json={"message": "Is Luna still there?"}, timeout=30)
response.raise_for_status()
print(response.json())

# getMessage
response = session.get(f"{url}/messages/msg_1", timeout=30)
response.raise_for_status()
print(response.json())

# listWebhooks
response = session.get(f"{url}/webhooks", timeout=30)
response.raise_for_status()
print(response.json())

# createWebhook
webhook = {"url": "https://example.com/adoptions", "types": ["pet.added"]}
response = session.post(f"{url}/webhooks", json=webhook, timeout=30)
response.raise_for_status()
print(response.json())

# getWebhook
response = session.get(f"{url}/webhooks/whk_1", timeout=30)
response.raise_for_status()
print(response.json())

# changeWebhook
response = session.patch(f"{url}/webhooks/whk_1", json={"description": "The website"}, timeout=30)
response.raise_for_status()
print(response.json())

# deleteWebhook
response = session.delete(f"{url}/webhooks/whk_1", timeout=30)
response.raise_for_status()
print(response.status_code)

# rotateWebhookSecret
response = session.post(f"{url}/webhooks/whk_1/rotate-secret", timeout=30)
response.raise_for_status()
print(response.json()["secret"])

# pingWebhook
response = session.post(f"{url}/webhooks/whk_1/ping", timeout=30)
response.raise_for_status()
print(response.json())

# listDeliveries
response = session.get(f"{url}/webhooks/whk_1/deliveries", params={"limit": 100}, timeout=30)
response.raise_for_status()
print(response.json(), response.links.get("next"))

# retryDelivery
response = session.post(f"{url}/webhooks/whk_1/deliveries/dlv_1/retry", timeout=30)
response.raise_for_status()
print(response.json())

# recoverDeliveries
response = session.post(f"{url}/webhooks/whk_1/recover", json={"since": "2026-11-21T12:00:00Z"}, timeout=30)
response.raise_for_status()
print(response.json())

# getRateLimit
response = session.get(f"{url}/rate_limit", timeout=30)
response.raise_for_status()
print(response.json())

# listEvents
import time

page = f"{url}/events"
while True:
    response = session.get(page, timeout=30)
    response.raise_for_status()
    for event in response.json():
        print(event["type"], event["data"]["id"], flush=True)
    if not response.json():
        time.sleep(5)
    page = response.links["next"]["url"]
