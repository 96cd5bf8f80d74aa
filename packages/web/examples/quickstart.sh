# Lists animals, adds one, and finds it by its id. Needs curl 7.84 or later.
# The id is cut out of the text of the answer, so that it stays exact.
call() {
  if answer=$(curl --silent --show-error --fail-with-body --max-time 30 \
    --header "Authorization: Bearer ${API_KEY:?}" \
    --write-out '%{onerror}\nrequest id: %header{x-request-id}' "$@")
  then
    printf '%s\n' "$answer"
  else
    printf '%s\n' "$answer" >&2
    return 1
  fi
}

call "${API_URL:?}/pets?status=available&limit=20" &&
  call "$API_URL/pets" --json '{"name": "Luna", "categoryId": 1, "status": "available"}' &&
  id=${answer#*'"id":'} &&
  call "$API_URL/pets?id=${id%%[,\}]*}"
