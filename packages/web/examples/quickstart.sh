# Lists animals, adds one, and finds it: put the id that the second line prints into the third.
curl -w '\n' -H "Authorization: Bearer $API_KEY" "$API_URL/pets?status=available&limit=20"
curl -w '\n' -H "Authorization: Bearer $API_KEY" -H 'Content-Type: application/json' -d '{"name":"Luna","categoryId":1}' "$API_URL/pets"
curl -w '\n' -H "Authorization: Bearer $API_KEY" "$API_URL/pets?id=1"
