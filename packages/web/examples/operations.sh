# Samples of operations, as in operations.ts.

# listPets
curl -w '\n' -H "Authorization: Bearer $API_KEY" "$API_URL/pets?status=available"

# createPet
curl -w '\n' -H "Authorization: Bearer $API_KEY" -H 'Content-Type: application/json' -d '{"name":"Luna","categoryId":1}' "$API_URL/pets"

# getPet
curl -w '\n' -H "Authorization: Bearer $API_KEY" "$API_URL/pets?id=1"

# changePet
# The key needs the scope pets:manage.
curl -w '\n' -X PATCH -H "Authorization: Bearer $API_KEY" -H 'Content-Type: application/json' -d '{"name":"Bella"}' "$API_URL/pets/1"

# placeOrder
curl -w '\n' -H "Authorization: Bearer $API_KEY" -H 'Content-Type: application/json' -d '{"petId":1}' "$API_URL/store/orders"

# listEvents
curl -i -w '\n' -H "Authorization: Bearer $API_KEY" "$API_URL/events" # its Link header has the next page
