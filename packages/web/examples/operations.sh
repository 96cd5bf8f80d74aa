# Samples of operations, as in operations.ts.

# listPets
curl -w '\n' -H "Authorization: Bearer $API_KEY" "$API_URL/pets?name=mi&status=available"

# createPet
curl -w '\n' -H "Authorization: Bearer $API_KEY" -H 'Content-Type: application/json' -d '{"name":"Luna","categoryId":1}' "$API_URL/pets"

# getPet
curl -w '\n' -H "Authorization: Bearer $API_KEY" "$API_URL/pets?id=1"

# changePet
curl -w '\n' -X PATCH -H "Authorization: Bearer $API_KEY" -H 'Content-Type: application/json' -d '{"name":"Bella"}' "$API_URL/pets/1"

# withdrawPet
curl -i -X DELETE -H "Authorization: Bearer $API_KEY" "$API_URL/pets/1"

# listCategories
curl -w '\n' -H "Authorization: Bearer $API_KEY" "$API_URL/categories?limit=100"

# createCategory
curl -w '\n' -H "Authorization: Bearer $API_KEY" -H 'Content-Type: application/json' -d '{"name":"Birds"}' "$API_URL/categories"

# getCategory
curl -w '\n' -H "Authorization: Bearer $API_KEY" "$API_URL/categories/1"

# nameCategory
curl -w '\n' -X PUT -H "Authorization: Bearer $API_KEY" -H 'Content-Type: application/json' -d '{"name":"Big cats"}' "$API_URL/categories/1"

# deleteCategory
curl -i -X DELETE -H "Authorization: Bearer $API_KEY" "$API_URL/categories/1"

# listOrders
curl -w '\n' -H "Authorization: Bearer $API_KEY" "$API_URL/store/orders?status=placed"

# placeOrder
id=$(curl -s -H "Authorization: Bearer $API_KEY" -H 'Content-Type: application/json' -d '{"petId":1}' "$API_URL/store/orders" | grep -o '"id":[0-9]*' | cut -d: -f2)
curl -w '\n' -X POST -H "Authorization: Bearer $API_KEY" "$API_URL/store/orders/$id/cancel"

# getOrder
curl -w '\n' -H "Authorization: Bearer $API_KEY" "$API_URL/store/orders/1"

# completeOrder
curl -w '\n' -X POST -H "Authorization: Bearer $API_KEY" "$API_URL/store/orders/1/complete"

# cancelOrder
curl -w '\n' -X POST -H "Authorization: Bearer $API_KEY" "$API_URL/store/orders/1/cancel"

# queueMessage
curl -w '\n' -H "Authorization: Bearer $API_KEY" -H 'Content-Type: application/json' -d '{"message":"Is Luna still there?"}' "$API_URL/messages"

# getMessage
curl -w '\n' -H "Authorization: Bearer $API_KEY" "$API_URL/messages/msg_1"

# listWebhooks
curl -w '\n' -H "Authorization: Bearer $API_KEY" "$API_URL/webhooks"

# createWebhook
curl -w '\n' -H "Authorization: Bearer $API_KEY" -H 'Content-Type: application/json' -d '{"url":"https://example.com/adoptions","types":["pet.added"]}' "$API_URL/webhooks"

# getWebhook
curl -w '\n' -H "Authorization: Bearer $API_KEY" "$API_URL/webhooks/whk_1"

# changeWebhook
curl -w '\n' -X PATCH -H "Authorization: Bearer $API_KEY" -H 'Content-Type: application/json' -d '{"description":"The website"}' "$API_URL/webhooks/whk_1"

# deleteWebhook
curl -i -X DELETE -H "Authorization: Bearer $API_KEY" "$API_URL/webhooks/whk_1"

# rotateWebhookSecret
curl -w '\n' -X POST -H "Authorization: Bearer $API_KEY" "$API_URL/webhooks/whk_1/rotate-secret"

# pingWebhook
curl -w '\n' -X POST -H "Authorization: Bearer $API_KEY" "$API_URL/webhooks/whk_1/ping"

# listDeliveries
curl -w '\n' -H "Authorization: Bearer $API_KEY" "$API_URL/webhooks/whk_1/deliveries?limit=100"

# retryDelivery
curl -w '\n' -X POST -H "Authorization: Bearer $API_KEY" "$API_URL/webhooks/whk_1/deliveries/dlv_1/retry"

# recoverDeliveries
curl -w '\n' -H "Authorization: Bearer $API_KEY" -H 'Content-Type: application/json' -d '{"since":"2026-11-21T12:00:00Z"}' "$API_URL/webhooks/whk_1/recover"

# getRateLimit
curl -w '\n' -H "Authorization: Bearer $API_KEY" "$API_URL/rate_limit"

# listEvents
curl -i -w '\n' -H "Authorization: Bearer $API_KEY" "$API_URL/events" # its Link header has the next page
