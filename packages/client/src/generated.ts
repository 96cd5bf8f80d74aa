// Made by generate.js of apps/api/openapi.json; npm run generate -w @adoption-store/client makes it anew.

/** The properties of JSON bodies that are int64, and so bigints here. */
export const int64Properties: ReadonlySet<string> = new Set(["categoryId","id","petId"]);

/** The POSTs that take no Idempotency-Key. */
export const keyless: ReadonlySet<string> = new Set(["POST /webhooks","POST /webhooks/{webhookId}/rotate-secret","POST /webhooks/{webhookId}/recover"]);

/** Types of values: [Pet] is a list, [Pet, null] may be null. Properties that may be missing are left out. */
export type Shape =
  | 'int64'
  | 'integer'
  | 'number'
  | 'string'
  | 'boolean'
  | readonly [item: Shape]
  | readonly [value: Shape, orNull: null]
  | { readonly [property: string]: Shape };

const Pet = { id: 'int64', name: 'string', categoryId: 'int64', status: 'string' } as const;
const Category = { id: 'int64', name: 'string' } as const;
const Order = { id: 'int64', petId: 'int64', status: 'string', createdAt: 'string', updatedAt: 'string' } as const;
const Message = { id: 'string', message: 'string', status: 'string', createdAt: 'string' } as const;
const Event = { id: 'string', type: 'string', createdAt: 'string', data: {} } as const;
const Webhook = { id: 'string', url: 'string', status: 'string', createdAt: 'string', updatedAt: 'string' } as const;
const WebhookWithSecret = { id: 'string', url: 'string', status: 'string', createdAt: 'string', updatedAt: 'string', secret: 'string' } as const;
const DeliveryAttempt = { attemptedAt: 'string', duration: 'integer' } as const;
const Delivery = { id: 'string', type: 'string', status: 'string', attempts: 'integer', history: [DeliveryAttempt], createdAt: 'string' } as const;
const RateLimitWindow = { limit: 'integer', used: 'integer', remaining: 'integer', reset: 'integer' } as const;
const RateLimit = { plan: 'string', minute: RateLimitWindow, day: RateLimitWindow, ban: [{ until: 'integer' }, null] } as const;

/** The result of each operation; null if it has none. */
export const answers: Readonly<Record<string, Shape | null>> = {
  'GET /pets': [Pet],
  'POST /pets': Pet,
  'GET /pets/{petId}': Pet,
  'PATCH /pets/{petId}': Pet,
  'DELETE /pets/{petId}': null,
  'GET /categories': [Category],
  'POST /categories': Category,
  'GET /categories/{categoryId}': Category,
  'PUT /categories/{categoryId}': Category,
  'DELETE /categories/{categoryId}': null,
  'GET /store/orders': [Order],
  'POST /store/orders': Order,
  'GET /store/orders/{orderId}': Order,
  'POST /store/orders/{orderId}/complete': Order,
  'POST /store/orders/{orderId}/cancel': Order,
  'POST /messages': Message,
  'GET /messages/{messageId}': Message,
  'GET /events': [Event],
  'GET /webhooks': [Webhook],
  'POST /webhooks': WebhookWithSecret,
  'GET /webhooks/{webhookId}': Webhook,
  'PATCH /webhooks/{webhookId}': Webhook,
  'DELETE /webhooks/{webhookId}': null,
  'POST /webhooks/{webhookId}/rotate-secret': WebhookWithSecret,
  'POST /webhooks/{webhookId}/ping': Delivery,
  'GET /webhooks/{webhookId}/deliveries': [Delivery],
  'POST /webhooks/{webhookId}/deliveries/{deliveryId}/retry': Delivery,
  'POST /webhooks/{webhookId}/recover': Webhook,
  'GET /rate_limit': RateLimit,
};

export interface paths {
    "/pets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List animals
         * @description Lists animals by their identifiers, ascending. If there is another page, the `Link` header has its address. It needs the scope `pets:read`.
         */
        get: operations["listPets"];
        put?: never;
        /**
         * Add an animal
         * @description Adds an animal. Any status is allowed. Properties that are not listed here are ignored. It needs the scope `pets:write`.
         */
        post: operations["createPet"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/pets/{petId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an animal
         * @deprecated
         * @description Deprecated: it will be removed on 5 December 2030 and then answers 410. List animals by `status` or `id` instead: `GET /pets?status=available`, `GET /pets?id=1`. It needs the scope `pets:read`.
         */
        get: operations["getPet"];
        put?: never;
        post?: never;
        /**
         * Withdraw an animal
         * @description Withdraws the animal for good: it is in no list any more, and its identifier answers 404. Its earlier orders stay readable. While an order is placed it is refused with 409 `order_in_progress`. It needs the scope `pets:write`.
         */
        delete: operations["withdrawPet"];
        options?: never;
        head?: never;
        /**
         * Change an animal
         * @description Changes the given fields, as a JSON Merge Patch (RFC 7396); the others stay. The status can be changed from `available` to `pending` and back; another change is refused with 409 `invalid_transition`. While an order is placed the status stays: 409 `order_in_progress`. With `If-Match` the animal is changed only if it is still in that version, otherwise the response is 412. It needs the scope `pets:write`.
         */
        patch: operations["changePet"];
        trace?: never;
    };
    "/categories": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List categories
         * @description Lists categories by their identifiers, ascending. Pages work as for animals. It needs the scope `pets:read`.
         */
        get: operations["listCategories"];
        put?: never;
        /**
         * Add a category
         * @description Adds a category under an identifier that neither a category nor an animal has. A name that another category has, without regard to case, is refused with 409 `category_name_taken`. It needs the scope `pets:write`.
         */
        post: operations["createCategory"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/categories/{categoryId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a category
         * @description Gets a category. It needs the scope `pets:read`.
         */
        get: operations["getCategory"];
        /**
         * Name a category
         * @description Gives the identifier this name, whether it has a name or not; animals may carry it already. A name that another category has, without regard to case, is refused with 409 `category_name_taken`. With `If-Match` a category that is still in that version is renamed, otherwise the response is 412. With `If-None-Match: *` only an identifier without a name is named. It needs the scope `pets:write`.
         */
        put: operations["nameCategory"];
        post?: never;
        /**
         * Remove a category
         * @description Removes the category. While an animal has it, it is refused with 409 `category_in_use`. It needs the scope `pets:write`.
         */
        delete: operations["removeCategory"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/store/orders": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List orders
         * @description Lists the account's orders by their identifiers, ascending. Pages work as for animals. It needs the scope `orders:read`.
         */
        get: operations["listOrders"];
        put?: never;
        /**
         * Place an order
         * @description Orders an animal, which becomes `pending`. Of concurrent requests for one animal one places the order; the others get 409 `pet_not_available`. An account at its limit of placed orders, 100 by default, gets 409 `too_many_orders`. It needs the scope `orders:write`.
         */
        post: operations["placeOrder"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/store/orders/{orderId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an order
         * @description Gets one of the account's orders. It needs the scope `orders:read`.
         */
        get: operations["getOrder"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/store/orders/{orderId}/complete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Complete an order
         * @description The animal becomes `sold`. It needs the scope `orders:write`.
         */
        post: operations["completeOrder"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/store/orders/{orderId}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel an order
         * @description The animal becomes `available` again. It needs the scope `orders:write`.
         */
        post: operations["cancelOrder"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a message
         * @description Queues a message to the store. It is delivered soon afterwards, at least once. It needs the scope `messages:write`.
         */
        post: operations["queueMessage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/messages/{messageId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a message
         * @description Gets one of the account's messages with its delivery status. It needs the scope `messages:read`.
         */
        get: operations["getMessage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List events
         * @description Lists what has happened, the oldest first: every account's events of animals, and the account's own of orders and messages. Without a cursor it begins with the oldest event that is kept, with `from=now` behind the last one. Every page has a `Link` to the next one, also the last page: send the same request again later to go on there. A client that follows it gets each event exactly once. A cursor of events that are no longer kept, or from before a restore of the database, is 410 `cursor_expired`. To keep a copy of a list, begin with `from=now`, then list all, then go on from the `Link`. It needs the scope `events:read`.
         */
        get: operations["listEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List webhooks
         * @description Lists the account's webhooks, the oldest first. There are at most 10, so the list has no pages. It needs the scope `webhooks:write`.
         */
        get: operations["listWebhooks"];
        put?: never;
        /**
         * Create a webhook
         * @description Has the events that happen from now on sent to a URL, as [Standard Webhooks](https://www.standardwebhooks.com) says. An account that has 10 webhooks gets 409 `too_many_webhooks`. The response shows the secret, and no other response does. It is not stored either, so an `Idempotency-Key` is refused with 400. It needs the scopes `events:read` and `webhooks:write`.
         */
        post: operations["createWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{webhookId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a webhook
         * @description Gets one of the account's webhooks. It needs the scope `webhooks:write`.
         */
        get: operations["getWebhook"];
        put?: never;
        post?: never;
        /**
         * Delete a webhook
         * @description Deletes the webhook with its secret and its deliveries. Nothing more is sent to it. It needs the scope `webhooks:write`.
         */
        delete: operations["deleteWebhook"];
        options?: never;
        head?: never;
        /**
         * Change a webhook
         * @description Changes the given fields, as a JSON Merge Patch (RFC 7396); the others stay. Null removes `types` or `description`. Unless it only disables the webhook, it needs the scope `events:read` too. It needs the scope `webhooks:write`.
         */
        patch: operations["changeWebhook"];
        trace?: never;
    };
    "/webhooks/{webhookId}/rotate-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate the secret of a webhook
         * @description Gives the webhook another secret. The one that it replaces also signs for 24 hours. At most 5 sign at the same time: one more rotation gets 409 `too_many_secrets`. The response shows the secret, and no other response does. It is not stored either, so an `Idempotency-Key` is refused with 400. It needs the scope `webhooks:write`.
         */
        post: operations["rotateWebhookSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{webhookId}/ping": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ping a webhook
         * @description Queues a delivery of the type `webhook.ping`, to try the receiver. At most 20 wait: one more is refused with 409 `too_many_pings`. Of a webhook that is disabled it is refused with 409 `webhook_disabled`. It needs the scope `webhooks:write`.
         */
        post: operations["pingWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{webhookId}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the deliveries of a webhook
         * @description Lists the deliveries, the newest first. They are kept as long as their events. It needs the scope `webhooks:write`.
         */
        get: operations["listDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{webhookId}/deliveries/{deliveryId}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retry a delivery
         * @description Queues the delivery again, with all its attempts; it is due at once. Of a webhook that is disabled it is refused with 409 `webhook_disabled`. It needs the scopes `events:read` and `webhooks:write`.
         */
        post: operations["retryDelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{webhookId}/recover": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Recover deliveries
         * @description Has sent again what has failed or was never sent, of the events that have happened since a time and are still kept, at the pace of the receiver; events from before the webhook was created too. Until that is done the webhook shows `recoveringSince`: the earlier time, if it is asked for twice. A repetition sends nothing twice. Of a webhook that is disabled it is refused with 409 `webhook_disabled`. It needs the scopes `events:read` and `webhooks:write`.
         */
        post: operations["recoverDeliveries"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/rate_limit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the limits
         * @description Gets the plan, the requests used and left, and the ban. It costs no quota, and works without any quota left; a key may send it 60 times a minute. It needs no scope.
         */
        get: operations["getRateLimit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    "pet.added": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive pet.added
         * @description Sent to each enabled webhook that it is for. Answer within 15 seconds.
         */
        post: operations["receivePetAdded"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "pet.changed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive pet.changed
         * @description Sent to each enabled webhook that it is for. Answer within 15 seconds.
         */
        post: operations["receivePetChanged"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "pet.removed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive pet.removed
         * @description Sent to each enabled webhook that it is for. Answer within 15 seconds.
         */
        post: operations["receivePetRemoved"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "order.placed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive order.placed
         * @description Sent to each enabled webhook that it is for. Answer within 15 seconds.
         */
        post: operations["receiveOrderPlaced"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "order.completed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive order.completed
         * @description Sent to each enabled webhook that it is for. Answer within 15 seconds.
         */
        post: operations["receiveOrderCompleted"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "order.cancelled": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive order.cancelled
         * @description Sent to each enabled webhook that it is for. Answer within 15 seconds.
         */
        post: operations["receiveOrderCancelled"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "order.expired": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive order.expired
         * @description Sent to each enabled webhook that it is for. Answer within 15 seconds.
         */
        post: operations["receiveOrderExpired"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "message.sent": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive message.sent
         * @description Sent to each enabled webhook that it is for. Answer within 15 seconds.
         */
        post: operations["receiveMessageSent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "message.failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive message.failed
         * @description Sent to each enabled webhook that it is for. Answer within 15 seconds.
         */
        post: operations["receiveMessageFailed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "webhook.ping": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive webhook.ping
         * @description Sent to each enabled webhook that it is for. Answer within 15 seconds.
         */
        post: operations["receiveWebhookPing"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        /**
         * @description An animal.
         * @example {
         *       "id": 1,
         *       "name": "Luna",
         *       "categoryId": 1,
         *       "status": "available"
         *     }
         */
        Pet: {
            /**
             * Format: int64
             * @description Unique identifier, assigned by the service on creation.
             * @example 1
             */
            id: bigint;
            /**
             * @description The animal's name. It is stored exactly as sent, and has at least one visible character.
             * @example Luna
             */
            name: string;
            /**
             * Format: int64
             * @description Identifier of the category the animal belongs to.
             * @example 1
             */
            categoryId: bigint;
            /**
             * @description The progress of the adoption. One of `available`, `pending`, `sold`; more may be added.
             * @example available
             */
            status: "available" | "pending" | "sold" | (string & {});
        };
        /**
         * @description An animal to add.
         * @example {
         *       "name": "Bella",
         *       "categoryId": 1
         *     }
         */
        NewPet: {
            /**
             * @description The animal's name. It is stored exactly as sent, and has at least one visible character.
             * @example Luna
             */
            name: string;
            /**
             * Format: int64
             * @description Identifier of the category the animal belongs to.
             * @example 1
             */
            categoryId: bigint;
            /** @description `available` by default. */
            status?: components["schemas"]["PetStatus"];
        };
        /**
         * @description The fields to change, at least one. The others stay.
         * @example {
         *       "name": "Bella"
         *     }
         */
        PetPatch: {
            /**
             * @description The animal's name. It is stored exactly as sent, and has at least one visible character.
             * @example Luna
             */
            name?: string;
            /**
             * Format: int64
             * @description Identifier of the category the animal belongs to.
             * @example 1
             */
            categoryId?: bigint;
            status?: components["schemas"]["PetStatus"];
        };
        /**
         * @description Whether the animal can be adopted.
         * @example available
         * @enum {string}
         */
        PetStatus: "available" | "pending" | "sold";
        /**
         * @description A name for the category of animals.
         * @example {
         *       "id": 1,
         *       "name": "Cats"
         *     }
         */
        Category: {
            /**
             * Format: int64
             * @description Identifier, which animals carry as their `categoryId`.
             * @example 1
             */
            id: bigint;
            /**
             * @description The category's name. It is stored exactly as sent, and has at least one visible character. No two categories have the same name, compared in NFC and without regard to case.
             * @example Cats
             */
            name: string;
        };
        /**
         * @description A name to give.
         * @example {
         *       "name": "Cats"
         *     }
         */
        NewCategory: {
            /**
             * @description The category's name. It is stored exactly as sent, and has at least one visible character. No two categories have the same name, compared in NFC and without regard to case.
             * @example Cats
             */
            name: string;
        };
        /**
         * @description The body of every error.
         * @example {
         *       "code": "not_found",
         *       "message": "there is no such animal",
         *       "status": 404
         *     }
         */
        Error: {
            code: components["schemas"]["ErrorCode"];
            /**
             * @description The error, for people. It names the field and the rule.
             * @example there is no such animal
             */
            message: string;
            /**
             * @description The HTTP status code.
             * @example 404
             */
            status: number;
        };
        /**
         * @description The error, for programs. Handle an unknown code by its status. One of `bad_request`, `category_in_use`, `category_name_taken`, `cursor_expired`, `daily_quota_exceeded`, `disabled_api_key`, `expectation_failed`, `expired_api_key`, `gone`, `headers_too_large`, `idempotency_key_in_use`, `idempotency_key_reused`, `insufficient_scope`, `internal_error`, `invalid_api_key`, `invalid_json`, `invalid_parameter`, `invalid_transition`, `key_banned`, `method_not_allowed`, `missing_api_key`, `not_found`, `order_final`, `order_in_progress`, `payload_too_large`, `pet_not_available`, `precondition_failed`, `rate_limited`, `request_timeout`, `revoked_api_key`, `service_unavailable`, `too_many_orders`, `too_many_pings`, `too_many_secrets`, `too_many_webhooks`, `unsupported_media_type`, `uri_too_long`, `webhook_disabled`; more may be added.
         * @example bad_request
         */
        ErrorCode: "bad_request" | "category_in_use" | "category_name_taken" | "cursor_expired" | "daily_quota_exceeded" | "disabled_api_key" | "expectation_failed" | "expired_api_key" | "gone" | "headers_too_large" | "idempotency_key_in_use" | "idempotency_key_reused" | "insufficient_scope" | "internal_error" | "invalid_api_key" | "invalid_json" | "invalid_parameter" | "invalid_transition" | "key_banned" | "method_not_allowed" | "missing_api_key" | "not_found" | "order_final" | "order_in_progress" | "payload_too_large" | "pet_not_available" | "precondition_failed" | "rate_limited" | "request_timeout" | "revoked_api_key" | "service_unavailable" | "too_many_orders" | "too_many_pings" | "too_many_secrets" | "too_many_webhooks" | "unsupported_media_type" | "uri_too_long" | "webhook_disabled" | (string & {});
        /**
         * @description An order for one animal.
         * @example {
         *       "id": 1,
         *       "petId": 2,
         *       "status": "placed",
         *       "createdAt": "2026-11-21T12:00:00.000Z",
         *       "updatedAt": "2026-11-21T12:00:00.000Z"
         *     }
         */
        Order: {
            /**
             * Format: int64
             * @description Unique identifier, assigned by the service.
             * @example 1
             */
            id: bigint;
            /**
             * Format: int64
             * @description Identifier of the ordered animal.
             * @example 2
             */
            petId: bigint;
            /**
             * @description The progress of the order. All except `placed` are final. One of `placed`, `completed`, `cancelled`, `expired`; more may be added.
             * @example placed
             */
            status: "placed" | "completed" | "cancelled" | "expired" | (string & {});
            /**
             * Format: date-time
             * @description When the order was placed.
             * @example 2026-11-21T12:00:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When its status last changed.
             * @example 2026-11-21T12:00:00.000Z
             */
            updatedAt: string;
        };
        /**
         * @description An order to place.
         * @example {
         *       "petId": 2
         *     }
         */
        NewOrder: {
            /**
             * Format: int64
             * @description Identifier of an available animal.
             * @example 2
             */
            petId: bigint;
        };
        /**
         * @description The statuses of orders.
         * @example placed
         * @enum {string}
         */
        OrderStatus: "placed" | "completed" | "cancelled" | "expired";
        /**
         * @description A message to the store.
         * @example {
         *       "id": "msg_2Yb8kQ0xWm4TzR7nLc5VhJ1s",
         *       "message": "Is Luna still there?",
         *       "status": "queued",
         *       "createdAt": "2026-11-21T12:00:00.000Z"
         *     }
         */
        Message: {
            /**
             * @description Unique identifier.
             * @example msg_2Yb8kQ0xWm4TzR7nLc5VhJ1s
             */
            id: string;
            /**
             * @description The text for the store.
             * @example Is Luna still there?
             */
            message: string;
            status: components["schemas"]["MessageStatus"];
            /**
             * Format: date-time
             * @description When the message was queued.
             * @example 2026-11-21T12:00:00.000Z
             */
            createdAt: string;
        };
        /**
         * @description A message to queue.
         * @example {
         *       "message": "Is Luna still there?"
         *     }
         */
        NewMessage: {
            /**
             * @description The text for the store.
             * @example Is Luna still there?
             */
            message: string;
        };
        /**
         * @description Whether the message is still `queued`, has been `sent`, or has `failed`. Only the operator can queue a failed message again. One of `queued`, `sent`, `failed`; more may be added.
         * @example queued
         */
        MessageStatus: "queued" | "sent" | "failed" | (string & {});
        /**
         * @description Something that has happened in the store.
         * @example {
         *       "id": "evt_5f0d4a3c9b7e4d21a6c8f1b2e3d4c5a6",
         *       "type": "order.placed",
         *       "createdAt": "2026-11-21T12:00:00.000Z",
         *       "data": {
         *         "id": 1,
         *         "petId": 1,
         *         "status": "placed",
         *         "createdAt": "2026-11-21T12:00:00.000Z",
         *         "updatedAt": "2026-11-21T12:00:00.000Z"
         *       }
         *     }
         */
        Event: {
            /**
             * @description Unique identifier.
             * @example evt_5f0d4a3c9b7e4d21a6c8f1b2e3d4c5a6
             */
            id: string;
            /**
             * @description What has happened. One of `pet.added`, `pet.changed`, `pet.removed`, `order.placed`, `order.completed`, `order.cancelled`, `order.expired`, `message.sent`, `message.failed`; more may be added.
             * @example pet.added
             */
            type: "pet.added" | "pet.changed" | "pet.removed" | "order.placed" | "order.completed" | "order.cancelled" | "order.expired" | "message.sent" | "message.failed" | (string & {});
            /**
             * Format: date-time
             * @description When it happened.
             * @example 2026-11-21T12:00:00.000Z
             */
            createdAt: string;
            /** @description The resource as it was afterwards: of `pet.…` the animal, of `order.…` the order, of `message.…` the message. */
            data: components["schemas"]["Pet"] | components["schemas"]["Order"] | components["schemas"]["Message"];
        };
        /**
         * @description The types of events.
         * @example pet.added
         * @enum {string}
         */
        EventType: "pet.added" | "pet.changed" | "pet.removed" | "order.placed" | "order.completed" | "order.cancelled" | "order.expired" | "message.sent" | "message.failed";
        /**
         * @description Where a list of events begins.
         * @example now
         * @enum {string}
         */
        EventStart: "now";
        /**
         * @description Where events are sent.
         * @example {
         *       "id": "whk_7Qm2ZcX9tR4bLk0VhJ5sWy1d",
         *       "url": "https://example.com/adoptions",
         *       "types": [
         *         "order.placed",
         *         "order.completed"
         *       ],
         *       "description": "The shelter's website",
         *       "status": "enabled",
         *       "createdAt": "2026-11-21T12:00:00.000Z",
         *       "updatedAt": "2026-11-21T12:00:00.000Z"
         *     }
         */
        Webhook: {
            /**
             * @description Unique identifier.
             * @example whk_7Qm2ZcX9tR4bLk0VhJ5sWy1d
             */
            id: string;
            /**
             * Format: uri
             * @description Where events are sent: `https`, port 443 or 1024 and above, a public address, no user name and no password, no outer white space, control character or backslash. It is stored as the URL standard of the WHATWG writes it, without a fragment.
             * @example https://example.com/adoptions
             */
            url: string;
            /**
             * @description The types of events that are sent. Absent: all.
             * @example [
             *       "order.placed",
             *       "order.completed"
             *     ]
             */
            types?: ("pet.added" | "pet.changed" | "pet.removed" | "order.placed" | "order.completed" | "order.cancelled" | "order.expired" | "message.sent" | "message.failed" | (string & {}))[];
            /**
             * @description For people.
             * @example The shelter's website
             */
            description?: string;
            /**
             * @description A `disabled` webhook is sent nothing. It becomes so if the receiver answers 410, or if all deliveries have failed for five days. One of `enabled`, `disabled`; more may be added.
             * @example enabled
             */
            status: "enabled" | "disabled" | (string & {});
            /**
             * Format: date-time
             * @description Events since then that have failed or were never sent are being sent. Absent unless that goes on.
             * @example 2026-11-21T12:00:00.000Z
             */
            recoveringSince?: string;
            /**
             * Format: date-time
             * @description When the webhook was created.
             * @example 2026-11-21T12:00:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it was last changed.
             * @example 2026-11-21T12:00:00.000Z
             */
            updatedAt: string;
        };
        /**
         * @description A webhook and its secret.
         * @example {
         *       "id": "whk_7Qm2ZcX9tR4bLk0VhJ5sWy1d",
         *       "url": "https://example.com/adoptions",
         *       "types": [
         *         "order.placed",
         *         "order.completed"
         *       ],
         *       "description": "The shelter's website",
         *       "status": "enabled",
         *       "createdAt": "2026-11-21T12:00:00.000Z",
         *       "updatedAt": "2026-11-21T12:00:00.000Z",
         *       "secret": "whsec_YW4gZXhhbXBsZSwgbm90IGEgcmVhbCBzZWNyZXQhISE="
         *     }
         */
        WebhookWithSecret: {
            /**
             * @description Unique identifier.
             * @example whk_7Qm2ZcX9tR4bLk0VhJ5sWy1d
             */
            id: string;
            /**
             * Format: uri
             * @description Where events are sent: `https`, port 443 or 1024 and above, a public address, no user name and no password, no outer white space, control character or backslash. It is stored as the URL standard of the WHATWG writes it, without a fragment.
             * @example https://example.com/adoptions
             */
            url: string;
            /**
             * @description The types of events that are sent. Absent: all.
             * @example [
             *       "order.placed",
             *       "order.completed"
             *     ]
             */
            types?: ("pet.added" | "pet.changed" | "pet.removed" | "order.placed" | "order.completed" | "order.cancelled" | "order.expired" | "message.sent" | "message.failed" | (string & {}))[];
            /**
             * @description For people.
             * @example The shelter's website
             */
            description?: string;
            /**
             * @description A `disabled` webhook is sent nothing. It becomes so if the receiver answers 410, or if all deliveries have failed for five days. One of `enabled`, `disabled`; more may be added.
             * @example enabled
             */
            status: "enabled" | "disabled" | (string & {});
            /**
             * Format: date-time
             * @description Events since then that have failed or were never sent are being sent. Absent unless that goes on.
             * @example 2026-11-21T12:00:00.000Z
             */
            recoveringSince?: string;
            /**
             * Format: date-time
             * @description When the webhook was created.
             * @example 2026-11-21T12:00:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it was last changed.
             * @example 2026-11-21T12:00:00.000Z
             */
            updatedAt: string;
            /**
             * @description Verifies what is sent. Store it: it is not shown again.
             * @example whsec_YW4gZXhhbXBsZSwgbm90IGEgcmVhbCBzZWNyZXQhISE=
             */
            secret: string;
        };
        /**
         * @description A webhook to create.
         * @example {
         *       "url": "https://example.com/adoptions",
         *       "types": [
         *         "order.placed",
         *         "order.completed"
         *       ]
         *     }
         */
        NewWebhook: {
            /**
             * Format: uri
             * @description Where events are sent: `https`, port 443 or 1024 and above, a public address, no user name and no password, no outer white space, control character or backslash. It is stored as the URL standard of the WHATWG writes it, without a fragment.
             * @example https://example.com/adoptions
             */
            url: string;
            /**
             * @description Only events of these types, each at most once. Default: all, also types that are added later.
             * @example [
             *       "order.placed",
             *       "order.completed"
             *     ]
             */
            types?: components["schemas"]["EventType"][];
            /**
             * @description For people.
             * @example The shelter's website
             */
            description?: string;
        };
        /**
         * @description The fields to change, at least one. The others stay.
         * @example {
         *       "status": "disabled"
         *     }
         */
        WebhookPatch: {
            /**
             * Format: uri
             * @description Where events are sent: `https`, port 443 or 1024 and above, a public address, no user name and no password, no outer white space, control character or backslash. It is stored as the URL standard of the WHATWG writes it, without a fragment.
             * @example https://example.com/adoptions
             */
            url?: string;
            /**
             * @description Only events of these types. Null: all.
             * @example [
             *       "order.placed",
             *       "order.completed"
             *     ]
             */
            types?: components["schemas"]["EventType"][] | null;
            /**
             * @description For people. Null removes it.
             * @example The shelter's website
             */
            description?: string | null;
            status?: components["schemas"]["WebhookStatus"];
        };
        /**
         * @description Whether events are sent.
         * @example enabled
         * @enum {string}
         */
        WebhookStatus: "enabled" | "disabled";
        /**
         * @description An event for a webhook.
         * @example {
         *       "id": "dlv_8d3c0b9af2e14675a1c2d3e4f5061728",
         *       "eventId": "evt_5f0d4a3c9b7e4d21a6c8f1b2e3d4c5a6",
         *       "type": "order.placed",
         *       "status": "sent",
         *       "attempts": 1,
         *       "responseStatus": 204,
         *       "history": [
         *         {
         *           "attemptedAt": "2026-11-21T12:00:00.000Z",
         *           "responseStatus": 204,
         *           "duration": 180
         *         }
         *       ],
         *       "createdAt": "2026-11-21T12:00:00.000Z"
         *     }
         */
        Delivery: {
            /**
             * @description Unique identifier.
             * @example dlv_8d3c0b9af2e14675a1c2d3e4f5061728
             */
            id: string;
            /**
             * @description Identifier of the event. Absent for a ping.
             * @example evt_5f0d4a3c9b7e4d21a6c8f1b2e3d4c5a6
             */
            eventId?: string;
            /**
             * @description The type of the event. One of `pet.added`, `pet.changed`, `pet.removed`, `order.placed`, `order.completed`, `order.cancelled`, `order.expired`, `message.sent`, `message.failed`, `webhook.ping`; more may be added.
             * @example pet.added
             */
            type: "pet.added" | "pet.changed" | "pet.removed" | "order.placed" | "order.completed" | "order.cancelled" | "order.expired" | "message.sent" | "message.failed" | "webhook.ping" | (string & {});
            /**
             * @description Whether it is still `queued`, has been `sent`, or has `failed` for good. One of `queued`, `sent`, `failed`; more may be added.
             * @example queued
             */
            status: "queued" | "sent" | "failed" | (string & {});
            /**
             * @description Attempts since it was last queued.
             * @example 1
             */
            attempts: number;
            /**
             * @description The status of the last response. Absent if there was none.
             * @example 204
             */
            responseStatus?: number;
            /**
             * @description Its last attempts, oldest first: also those from before it was queued again.
             * @example [
             *       {
             *         "attemptedAt": "2026-11-21T12:00:00.000Z",
             *         "responseStatus": 204,
             *         "duration": 180
             *       }
             *     ]
             */
            history: components["schemas"]["DeliveryAttempt"][];
            /**
             * Format: date-time
             * @description When it was first due.
             * @example 2026-11-21T12:00:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it is attempted next. Absent unless it is `queued` and the webhook enabled.
             * @example 2026-11-21T12:00:00.000Z
             */
            nextAttemptAt?: string;
        };
        /**
         * @description What came of one attempt.
         * @example {
         *       "attemptedAt": "2026-11-21T12:00:00.000Z",
         *       "responseStatus": 204,
         *       "duration": 180
         *     }
         */
        DeliveryAttempt: {
            /**
             * Format: date-time
             * @description When it began.
             * @example 2026-11-21T12:00:00.000Z
             */
            attemptedAt: string;
            /**
             * @description The status of the response. Absent if there was none.
             * @example 204
             */
            responseStatus?: number;
            /**
             * @description Milliseconds until the response, or until there could be none.
             * @example 180
             */
            duration: number;
        };
        /**
         * @description What to send again.
         * @example {
         *       "since": "2026-11-21T12:00:00.000Z"
         *     }
         */
        Recovery: {
            /**
             * Format: date-time
             * @description Since when.
             * @example 2026-11-21T12:00:00.000Z
             */
            since: string;
        };
        /**
         * @description The plan and limits of the caller.
         * @example {
         *       "plan": "pro",
         *       "minute": {
         *         "limit": 300,
         *         "used": 1,
         *         "remaining": 299,
         *         "reset": 1795262460
         *       },
         *       "day": {
         *         "limit": 10000,
         *         "used": 1,
         *         "remaining": 9999,
         *         "reset": 1795305600
         *       },
         *       "ban": null
         *     }
         */
        RateLimit: {
            /**
             * @description The account's plan. One of `free`, `pro`, `business`, `enterprise`; more may be added.
             * @example free
             */
            plan: "free" | "pro" | "business" | "enterprise" | (string & {});
            minute: components["schemas"]["RateLimitWindow"];
            day: components["schemas"]["RateLimitWindow"];
            /** @description Null if the key is not banned. */
            ban: null | {
                /**
                 * @description When the ban ends, as a Unix timestamp in seconds.
                 * @example 1795262460
                 */
                until: number;
            };
        };
        /**
         * @description The current minute or day, in UTC.
         * @example {
         *       "limit": 300,
         *       "used": 1,
         *       "remaining": 299,
         *       "reset": 1795262460
         *     }
         */
        RateLimitWindow: {
            /**
             * @description Requests the plan allows.
             * @example 300
             */
            limit: number;
            /**
             * @description Requests admitted so far, of all keys of the account.
             * @example 1
             */
            used: number;
            /**
             * @description Requests left.
             * @example 299
             */
            remaining: number;
            /**
             * @description When the window resets, as a Unix timestamp in seconds.
             * @example 1795262460
             */
            reset: number;
        };
    };
    responses: {
        /** @description The request breaks a rule of HTTP, of JSON or of this operation. */
        BadRequest: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Stability": components["headers"]["X-Stability"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The API key is missing or invalid, or the header is not `Authorization: Bearer <API key>`. */
        Unauthorized: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                "X-Stability": components["headers"]["X-Stability"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The API key or its account lacks the scope of the operation. */
        Forbidden: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                "X-Stability": components["headers"]["X-Stability"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description There is no such resource, or it is not yours. */
        NotFound: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                "X-Stability": components["headers"]["X-Stability"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The request did not arrive in time. */
        RequestTimeout: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Stability": components["headers"]["X-Stability"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The state of the resource, or of a request with the same key, does not allow it. */
        Conflict: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                "X-Stability": components["headers"]["X-Stability"];
                /** @description Seconds to wait after `idempotency_key_in_use`. Absent with other codes. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The operation has been removed, or the cursor is of events that are no longer kept or were undone. */
        Gone: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Stability": components["headers"]["X-Stability"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The resource has no entity tag that `If-Match` names, or has one that `If-None-Match` names. Nothing has changed. */
        PreconditionFailed: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Stability": components["headers"]["X-Stability"];
                /** @description The current entity tag. Absent if there is no such resource. */
                ETag?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The body is too large. */
        PayloadTooLarge: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Stability": components["headers"]["X-Stability"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The URL is too long. */
        UriTooLong: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Stability": components["headers"]["X-Stability"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The Expect header is not supported. */
        ExpectationFailed: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Stability": components["headers"]["X-Stability"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description A limit of the plan is exceeded, or the key is banned because it continued to send. */
        TooManyRequests: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "Retry-After": components["headers"]["Retry-After"];
                "X-Stability": components["headers"]["X-Stability"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The headers are too large. */
        HeadersTooLarge: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Stability": components["headers"]["X-Stability"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description A defect of the service. It has been logged. */
        InternalError: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Stability": components["headers"]["X-Stability"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description A dependency of the service is down. */
        ServiceUnavailable: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "Retry-After": components["headers"]["Retry-After"];
                "X-Stability": components["headers"]["X-Stability"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
    };
    parameters: {
        /** @description Identifies the request in the response and in our logs: 1 to 64 letters, digits, `-` and `_`. Any other value is replaced. */
        RequestId: string;
        /** @description The request runs once, however often it is sent: for 24 hours the same key and body get the first response again. */
        IdempotencyKey: string;
        /** @description Entity tags (`ETag`), or `*` for any. If the resource has one of them, a GET is 304 without a body; any other request is 412 and nothing changes. */
        IfNoneMatch: string;
        /** @description Entity tags (`ETag`), or `*` for any. If the resource has none of them any more, the response is 412 and nothing changes. */
        IfMatch: string;
        /** @description The most items on the page. */
        Limit: number;
        /** @description The position of the page. Use the `Link` header of the previous page; don't build or parse a cursor. */
        Cursor: string;
        /** @description Identifier of the category. */
        CategoryId: bigint;
        /** @description Identifier of the order. */
        OrderId: bigint;
        /** @description Identifier of the webhook. */
        WebhookId: string;
        /** @description Identifier of the event, or of the ping: the same at each attempt. An event may arrive twice; do nothing the second time. */
        ReceivedId: string;
        /** @description When it was sent, in Unix seconds. Refuse one that is more than five minutes old. */
        ReceivedTimestamp: string;
        /** @description Its signatures, with spaces between them: one, or two after a rotation of the secret. One must be right. */
        ReceivedSignature: string;
    };
    requestBodies: never;
    headers: {
        /** @description The client's own, where it sent one that is fit to be one, or a new one. Quote it when you ask for help. */
        "X-Request-Id": string;
        /** @description The limit of the window with the fewest requests left, the minute or the day. */
        "X-RateLimit-Limit": number;
        /** @description Requests left in that window. */
        "X-RateLimit-Remaining": number;
        /** @description When that window resets, as a Unix timestamp in seconds. */
        "X-RateLimit-Reset": number;
        /** @description Both windows: requests allowed (`q`) and length in seconds (`w`), as in draft-ietf-httpapi-ratelimit-headers. */
        "RateLimit-Policy": string;
        /** @description Both windows: requests left (`r`) and seconds until the reset (`t`). */
        RateLimit: string;
        /** @description Seconds to wait. A request after that time is accepted. */
        "Retry-After": number;
        /** @description How to authenticate, or the scope that is missing (RFC 6750). */
        "WWW-Authenticate": string;
        /** @description Absolute URL of the new resource. */
        Location: string;
        /** @description Absolute URL of the next page (`rel="next"`). Absent on the last page, except of events, which are never complete. */
        Link: string;
        /** @description Identifies the content of the response: the same content has the same tag. Send it in `If-None-Match` or `If-Match`. */
        ETag: string;
        /** @description Present if this is the stored response to an earlier request with the same Idempotency-Key; nothing was done again. */
        "Idempotent-Replayed": "true";
        /** @description The stability of an operation that may still change, `beta` or `experimental`. Absent for a stable one. */
        "X-Stability": string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listPets: {
        parameters: {
            query?: {
                /** @description The most items on the page. */
                limit?: components["parameters"]["Limit"];
                /** @description Only animals with this status. */
                status?: components["schemas"]["PetStatus"];
                /** @description Only these animals. Repeat the parameter for several, up to 100 times. Unknown ids are left out. */
                id?: bigint[];
                /** @description Only animals of these categories. Repeat the parameter for several, up to 100 times. Unknown ids are left out. */
                categoryId?: bigint[];
                /** @description The position of the page. Use the `Link` header of the previous page; don't build or parse a cursor. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: {
                /** @description Entity tags (`ETag`), or `*` for any. If the resource has none of them any more, the response is 412 and nothing changes. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Entity tags (`ETag`), or `*` for any. If the resource has one of them, a GET is 304 without a body; any other request is 412 and nothing changes. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Identifies the request in the response and in our logs: 1 to 64 letters, digits, `-` and `_`. Any other value is replaced. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of animals. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    Link: components["headers"]["Link"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Pet"][];
                };
            };
            /** @description The response is still the one that `If-None-Match` names. It has no body. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            414: components["responses"]["UriTooLong"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    createPet: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once, however often it is sent: for 24 hours the same key and body get the first response again. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Identifies the request in the response and in our logs: 1 to 64 letters, digits, `-` and `_`. Any other value is replaced. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewPet"];
            };
        };
        responses: {
            /** @description The animal has been added. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Pet"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            414: components["responses"]["UriTooLong"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getPet: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags (`ETag`), or `*` for any. If the resource has none of them any more, the response is 412 and nothing changes. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Entity tags (`ETag`), or `*` for any. If the resource has one of them, a GET is 304 without a body; any other request is 412 and nothing changes. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Identifies the request in the response and in our logs: 1 to 64 letters, digits, `-` and `_`. Any other value is replaced. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @description Identifier of the animal. */
                petId: bigint;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The animal. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    /** @description The date of the deprecation (RFC 9745). */
                    Deprecation?: "@1764892800";
                    /** @description The date of the removal (RFC 8594). */
                    Sunset?: "Thu, 05 Dec 2030 00:00:00 GMT";
                    /** @description The replacement of the operation (`rel="successor-version"`), and the reference page (`rel="deprecation"`). */
                    Link?: string;
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Pet"];
                };
            };
            /** @description The response is still the one that `If-None-Match` names. It has no body. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    /** @description The date of the deprecation (RFC 9745). */
                    Deprecation?: "@1764892800";
                    /** @description The date of the removal (RFC 8594). */
                    Sunset?: "Thu, 05 Dec 2030 00:00:00 GMT";
                    /** @description The replacement of the operation (`rel="successor-version"`), and the reference page (`rel="deprecation"`). */
                    Link?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            /** @description There is no such resource, or it is not yours. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "X-Stability": components["headers"]["X-Stability"];
                    /** @description The date of the deprecation (RFC 9745). */
                    Deprecation?: "@1764892800";
                    /** @description The date of the removal (RFC 8594). */
                    Sunset?: "Thu, 05 Dec 2030 00:00:00 GMT";
                    /** @description The replacement of the operation (`rel="successor-version"`), and the reference page (`rel="deprecation"`). */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            408: components["responses"]["RequestTimeout"];
            /** @description The operation has been removed, or the cursor is of events that are no longer kept or were undone. */
            410: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Stability": components["headers"]["X-Stability"];
                    /** @description The date of the deprecation (RFC 9745). */
                    Deprecation?: "@1764892800";
                    /** @description The date of the removal (RFC 8594). */
                    Sunset?: "Thu, 05 Dec 2030 00:00:00 GMT";
                    /** @description The replacement of the operation (`rel="successor-version"`), and the reference page (`rel="deprecation"`). */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The resource has no entity tag that `If-Match` names, or has one that `If-None-Match` names. Nothing has changed. */
            412: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Stability": components["headers"]["X-Stability"];
                    /** @description The current entity tag. Absent if there is no such resource. */
                    ETag?: string;
                    /** @description The date of the deprecation (RFC 9745). */
                    Deprecation?: "@1764892800";
                    /** @description The date of the removal (RFC 8594). */
                    Sunset?: "Thu, 05 Dec 2030 00:00:00 GMT";
                    /** @description The replacement of the operation (`rel="successor-version"`), and the reference page (`rel="deprecation"`). */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            413: components["responses"]["PayloadTooLarge"];
            414: components["responses"]["UriTooLong"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            /** @description A defect of the service. It has been logged. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Stability": components["headers"]["X-Stability"];
                    /** @description The date of the deprecation (RFC 9745). */
                    Deprecation?: "@1764892800";
                    /** @description The date of the removal (RFC 8594). */
                    Sunset?: "Thu, 05 Dec 2030 00:00:00 GMT";
                    /** @description The replacement of the operation (`rel="successor-version"`), and the reference page (`rel="deprecation"`). */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A dependency of the service is down. */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-Stability": components["headers"]["X-Stability"];
                    /** @description The date of the deprecation (RFC 9745). */
                    Deprecation?: "@1764892800";
                    /** @description The date of the removal (RFC 8594). */
                    Sunset?: "Thu, 05 Dec 2030 00:00:00 GMT";
                    /** @description The replacement of the operation (`rel="successor-version"`), and the reference page (`rel="deprecation"`). */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    withdrawPet: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags (`ETag`), or `*` for any. If the resource has none of them any more, the response is 412 and nothing changes. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Entity tags (`ETag`), or `*` for any. If the resource has one of them, a GET is 304 without a body; any other request is 412 and nothing changes. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Identifies the request in the response and in our logs: 1 to 64 letters, digits, `-` and `_`. Any other value is replaced. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @description Identifier of the animal. */
                petId: bigint;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The animal has been withdrawn. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Stability": components["headers"]["X-Stability"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            414: components["responses"]["UriTooLong"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    changePet: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags (`ETag`), or `*` for any. If the resource has none of them any more, the response is 412 and nothing changes. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Entity tags (`ETag`), or `*` for any. If the resource has one of them, a GET is 304 without a body; any other request is 412 and nothing changes. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Identifies the request in the response and in our logs: 1 to 64 letters, digits, `-` and `_`. Any other value is replaced. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @description Identifier of the animal. */
                petId: bigint;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PetPatch"];
                "application/merge-patch+json": components["schemas"]["PetPatch"];
            };
        };
        responses: {
            /** @description The animal has been changed. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Stability": components["headers"]["X-Stability"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Pet"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            414: components["responses"]["UriTooLong"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listCategories: {
        parameters: {
            query?: {
                /** @description The most items on the page. */
                limit?: components["parameters"]["Limit"];
                /** @description Only these categories. Repeat the parameter for several, up to 100 times. Unknown ids are left out. */
                id?: bigint[];
                /** @description The position of the page. Use the `Link` header of the previous page; don't build or parse a cursor. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: {
                /** @description Entity tags (`ETag`), or `*` for any. If the resource has none of them any more, the response is 412 and nothing changes. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Entity tags (`ETag`), or `*` for any. If the resource has one of them, a GET is 304 without a body; any other request is 412 and nothing changes. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Identifies the request in the response and in our logs: 1 to 64 letters, digits, `-` and `_`. Any other value is replaced. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of categories. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    Link: components["headers"]["Link"];
                    "X-Stability": components["headers"]["X-Stability"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Category"][];
                };
            };
            /** @description The response is still the one that `If-None-Match` names. It has no body. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    "X-Stability": components["headers"]["X-Stability"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            414: components["responses"]["UriTooLong"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    createCategory: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once, however often it is sent: for 24 hours the same key and body get the first response again. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Identifies the request in the response and in our logs: 1 to 64 letters, digits, `-` and `_`. Any other value is replaced. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewCategory"];
            };
        };
        responses: {
            /** @description The category has been added. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Stability": components["headers"]["X-Stability"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Category"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            414: components["responses"]["UriTooLong"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getCategory: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags (`ETag`), or `*` for any. If the resource has none of them any more, the response is 412 and nothing changes. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Entity tags (`ETag`), or `*` for any. If the resource has one of them, a GET is 304 without a body; any other request is 412 and nothing changes. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Identifies the request in the response and in our logs: 1 to 64 letters, digits, `-` and `_`. Any other value is replaced. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @description Identifier of the category. */
                categoryId: components["parameters"]["CategoryId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The category. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Stability": components["headers"]["X-Stability"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Category"];
                };
            };
            /** @description The response is still the one that `If-None-Match` names. It has no body. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    "X-Stability": components["headers"]["X-Stability"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            414: components["responses"]["UriTooLong"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    nameCategory: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags (`ETag`), or `*` for any. If the resource has none of them any more, the response is 412 and nothing changes. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Entity tags (`ETag`), or `*` for any. If the resource has one of them, a GET is 304 without a body; any other request is 412 and nothing changes. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Identifies the request in the response and in our logs: 1 to 64 letters, digits, `-` and `_`. Any other value is replaced. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @description Identifier of the category. */
                categoryId: components["parameters"]["CategoryId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewCategory"];
            };
        };
        responses: {
            /** @description The category has been renamed. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Stability": components["headers"]["X-Stability"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Category"];
                };
            };
            /** @description The identifier has been named. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Stability": components["headers"]["X-Stability"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Category"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            414: components["responses"]["UriTooLong"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    removeCategory: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags (`ETag`), or `*` for any. If the resource has none of them any more, the response is 412 and nothing changes. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Entity tags (`ETag`), or `*` for any. If the resource has one of them, a GET is 304 without a body; any other request is 412 and nothing changes. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Identifies the request in the response and in our logs: 1 to 64 letters, digits, `-` and `_`. Any other value is replaced. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @description Identifier of the category. */
                categoryId: components["parameters"]["CategoryId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The category has been removed. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Stability": components["headers"]["X-Stability"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            414: components["responses"]["UriTooLong"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listOrders: {
        parameters: {
            query?: {
                /** @description The most items on the page. */
                limit?: components["parameters"]["Limit"];
                /** @description Only orders with this status. */
                status?: components["schemas"]["OrderStatus"];
                /** @description The position of the page. Use the `Link` header of the previous page; don't build or parse a cursor. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: {
                /** @description Entity tags (`ETag`), or `*` for any. If the resource has none of them any more, the response is 412 and nothing changes. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Entity tags (`ETag`), or `*` for any. If the resource has one of them, a GET is 304 without a body; any other request is 412 and nothing changes. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Identifies the request in the response and in our logs: 1 to 64 letters, digits, `-` and `_`. Any other value is replaced. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of orders. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    Link: components["headers"]["Link"];
                    "X-Stability": components["headers"]["X-Stability"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Order"][];
                };
            };
            /** @description The response is still the one that `If-None-Match` names. It has no body. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    "X-Stability": components["headers"]["X-Stability"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            414: components["responses"]["UriTooLong"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    placeOrder: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once, however often it is sent: for 24 hours the same key and body get the first response again. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Identifies the request in the response and in our logs: 1 to 64 letters, digits, `-` and `_`. Any other value is replaced. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewOrder"];
            };
        };
        responses: {
            /** @description The order has been placed. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Stability": components["headers"]["X-Stability"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Order"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            414: components["responses"]["UriTooLong"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getOrder: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags (`ETag`), or `*` for any. If the resource has none of them any more, the response is 412 and nothing changes. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Entity tags (`ETag`), or `*` for any. If the resource has one of them, a GET is 304 without a body; any other request is 412 and nothing changes. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Identifies the request in the response and in our logs: 1 to 64 letters, digits, `-` and `_`. Any other value is replaced. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @description Identifier of the order. */
                orderId: components["parameters"]["OrderId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The order. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Stability": components["headers"]["X-Stability"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Order"];
                };
            };
            /** @description The response is still the one that `If-None-Match` names. It has no body. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    "X-Stability": components["headers"]["X-Stability"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            414: components["responses"]["UriTooLong"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    completeOrder: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags (`ETag`), or `*` for any. If the resource has none of them any more, the response is 412 and nothing changes. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Entity tags (`ETag`), or `*` for any. If the resource has one of them, a GET is 304 without a body; any other request is 412 and nothing changes. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description The request runs once, however often it is sent: for 24 hours the same key and body get the first response again. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Identifies the request in the response and in our logs: 1 to 64 letters, digits, `-` and `_`. Any other value is replaced. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @description Identifier of the order. */
                orderId: components["parameters"]["OrderId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The order is completed. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Stability": components["headers"]["X-Stability"];
                    ETag: components["headers"]["ETag"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Order"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            414: components["responses"]["UriTooLong"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    cancelOrder: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags (`ETag`), or `*` for any. If the resource has none of them any more, the response is 412 and nothing changes. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Entity tags (`ETag`), or `*` for any. If the resource has one of them, a GET is 304 without a body; any other request is 412 and nothing changes. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description The request runs once, however often it is sent: for 24 hours the same key and body get the first response again. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Identifies the request in the response and in our logs: 1 to 64 letters, digits, `-` and `_`. Any other value is replaced. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @description Identifier of the order. */
                orderId: components["parameters"]["OrderId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The order is cancelled. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Stability": components["headers"]["X-Stability"];
                    ETag: components["headers"]["ETag"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Order"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            414: components["responses"]["UriTooLong"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    queueMessage: {
        parameters: {
            query?: never;
            header?: {
                /** @description The request runs once, however often it is sent: for 24 hours the same key and body get the first response again. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Identifies the request in the response and in our logs: 1 to 64 letters, digits, `-` and `_`. Any other value is replaced. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewMessage"];
            };
        };
        responses: {
            /** @description The message has been queued. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Stability": components["headers"]["X-Stability"];
                    Location: components["headers"]["Location"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Message"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            414: components["responses"]["UriTooLong"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getMessage: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags (`ETag`), or `*` for any. If the resource has none of them any more, the response is 412 and nothing changes. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Entity tags (`ETag`), or `*` for any. If the resource has one of them, a GET is 304 without a body; any other request is 412 and nothing changes. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Identifies the request in the response and in our logs: 1 to 64 letters, digits, `-` and `_`. Any other value is replaced. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @description Identifier of the message. */
                messageId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The message. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Stability": components["headers"]["X-Stability"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Message"];
                };
            };
            /** @description The response is still the one that `If-None-Match` names. It has no body. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    "X-Stability": components["headers"]["X-Stability"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            414: components["responses"]["UriTooLong"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listEvents: {
        parameters: {
            query?: {
                /** @description The most items on the page. */
                limit?: components["parameters"]["Limit"];
                /** @description Only events of these types. Repeat the parameter for several. */
                type?: components["schemas"]["EventType"][];
                /** @description Begins with what happens from now on, with an empty page. Not with `cursor`. */
                from?: components["schemas"]["EventStart"];
                /** @description The position of the page. Use the `Link` header of the previous page; don't build or parse a cursor. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: {
                /** @description Entity tags (`ETag`), or `*` for any. If the resource has none of them any more, the response is 412 and nothing changes. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Entity tags (`ETag`), or `*` for any. If the resource has one of them, a GET is 304 without a body; any other request is 412 and nothing changes. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Identifies the request in the response and in our logs: 1 to 64 letters, digits, `-` and `_`. Any other value is replaced. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of events. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    Link: components["headers"]["Link"];
                    "X-Stability": components["headers"]["X-Stability"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Event"][];
                };
            };
            /** @description The response is still the one that `If-None-Match` names. It has no body. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    "X-Stability": components["headers"]["X-Stability"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            410: components["responses"]["Gone"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            414: components["responses"]["UriTooLong"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listWebhooks: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags (`ETag`), or `*` for any. If the resource has none of them any more, the response is 412 and nothing changes. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Entity tags (`ETag`), or `*` for any. If the resource has one of them, a GET is 304 without a body; any other request is 412 and nothing changes. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Identifies the request in the response and in our logs: 1 to 64 letters, digits, `-` and `_`. Any other value is replaced. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhooks. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Stability": components["headers"]["X-Stability"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"][];
                };
            };
            /** @description The response is still the one that `If-None-Match` names. It has no body. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    "X-Stability": components["headers"]["X-Stability"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            414: components["responses"]["UriTooLong"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    createWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Identifies the request in the response and in our logs: 1 to 64 letters, digits, `-` and `_`. Any other value is replaced. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewWebhook"];
            };
        };
        responses: {
            /** @description The webhook has been created. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Stability": components["headers"]["X-Stability"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookWithSecret"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            414: components["responses"]["UriTooLong"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags (`ETag`), or `*` for any. If the resource has none of them any more, the response is 412 and nothing changes. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Entity tags (`ETag`), or `*` for any. If the resource has one of them, a GET is 304 without a body; any other request is 412 and nothing changes. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Identifies the request in the response and in our logs: 1 to 64 letters, digits, `-` and `_`. Any other value is replaced. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @description Identifier of the webhook. */
                webhookId: components["parameters"]["WebhookId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhook. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Stability": components["headers"]["X-Stability"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
            /** @description The response is still the one that `If-None-Match` names. It has no body. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    "X-Stability": components["headers"]["X-Stability"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            414: components["responses"]["UriTooLong"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    deleteWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags (`ETag`), or `*` for any. If the resource has none of them any more, the response is 412 and nothing changes. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Entity tags (`ETag`), or `*` for any. If the resource has one of them, a GET is 304 without a body; any other request is 412 and nothing changes. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Identifies the request in the response and in our logs: 1 to 64 letters, digits, `-` and `_`. Any other value is replaced. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @description Identifier of the webhook. */
                webhookId: components["parameters"]["WebhookId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhook has been deleted. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Stability": components["headers"]["X-Stability"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            414: components["responses"]["UriTooLong"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    changeWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags (`ETag`), or `*` for any. If the resource has none of them any more, the response is 412 and nothing changes. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Entity tags (`ETag`), or `*` for any. If the resource has one of them, a GET is 304 without a body; any other request is 412 and nothing changes. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Identifies the request in the response and in our logs: 1 to 64 letters, digits, `-` and `_`. Any other value is replaced. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @description Identifier of the webhook. */
                webhookId: components["parameters"]["WebhookId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookPatch"];
                "application/merge-patch+json": components["schemas"]["WebhookPatch"];
            };
        };
        responses: {
            /** @description The webhook has been changed. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Stability": components["headers"]["X-Stability"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            414: components["responses"]["UriTooLong"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    rotateWebhookSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags (`ETag`), or `*` for any. If the resource has none of them any more, the response is 412 and nothing changes. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Entity tags (`ETag`), or `*` for any. If the resource has one of them, a GET is 304 without a body; any other request is 412 and nothing changes. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Identifies the request in the response and in our logs: 1 to 64 letters, digits, `-` and `_`. Any other value is replaced. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @description Identifier of the webhook. */
                webhookId: components["parameters"]["WebhookId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhook has another secret. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Stability": components["headers"]["X-Stability"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookWithSecret"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            414: components["responses"]["UriTooLong"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    pingWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags (`ETag`), or `*` for any. If the resource has none of them any more, the response is 412 and nothing changes. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Entity tags (`ETag`), or `*` for any. If the resource has one of them, a GET is 304 without a body; any other request is 412 and nothing changes. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description The request runs once, however often it is sent: for 24 hours the same key and body get the first response again. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Identifies the request in the response and in our logs: 1 to 64 letters, digits, `-` and `_`. Any other value is replaced. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @description Identifier of the webhook. */
                webhookId: components["parameters"]["WebhookId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The ping has been queued. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Stability": components["headers"]["X-Stability"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Delivery"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            414: components["responses"]["UriTooLong"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    listDeliveries: {
        parameters: {
            query?: {
                /** @description The most items on the page. */
                limit?: components["parameters"]["Limit"];
                /** @description The position of the page. Use the `Link` header of the previous page; don't build or parse a cursor. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: {
                /** @description Entity tags (`ETag`), or `*` for any. If the resource has none of them any more, the response is 412 and nothing changes. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Entity tags (`ETag`), or `*` for any. If the resource has one of them, a GET is 304 without a body; any other request is 412 and nothing changes. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Identifies the request in the response and in our logs: 1 to 64 letters, digits, `-` and `_`. Any other value is replaced. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @description Identifier of the webhook. */
                webhookId: components["parameters"]["WebhookId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of deliveries. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    Link: components["headers"]["Link"];
                    "X-Stability": components["headers"]["X-Stability"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Delivery"][];
                };
            };
            /** @description The response is still the one that `If-None-Match` names. It has no body. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    ETag: components["headers"]["ETag"];
                    "X-Stability": components["headers"]["X-Stability"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            414: components["responses"]["UriTooLong"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    retryDelivery: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags (`ETag`), or `*` for any. If the resource has none of them any more, the response is 412 and nothing changes. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Entity tags (`ETag`), or `*` for any. If the resource has one of them, a GET is 304 without a body; any other request is 412 and nothing changes. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description The request runs once, however often it is sent: for 24 hours the same key and body get the first response again. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Identifies the request in the response and in our logs: 1 to 64 letters, digits, `-` and `_`. Any other value is replaced. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @description Identifier of the webhook. */
                webhookId: components["parameters"]["WebhookId"];
                /** @description Identifier of the delivery. */
                deliveryId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery has been queued again. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Stability": components["headers"]["X-Stability"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Delivery"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            414: components["responses"]["UriTooLong"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    recoverDeliveries: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags (`ETag`), or `*` for any. If the resource has none of them any more, the response is 412 and nothing changes. */
                "If-Match"?: components["parameters"]["IfMatch"];
                /** @description Entity tags (`ETag`), or `*` for any. If the resource has one of them, a GET is 304 without a body; any other request is 412 and nothing changes. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Identifies the request in the response and in our logs: 1 to 64 letters, digits, `-` and `_`. Any other value is replaced. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @description Identifier of the webhook. */
                webhookId: components["parameters"]["WebhookId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Recovery"];
            };
        };
        responses: {
            /** @description The wish has been stored. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Stability": components["headers"]["X-Stability"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            414: components["responses"]["UriTooLong"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    getRateLimit: {
        parameters: {
            query?: never;
            header?: {
                /** @description Identifies the request in the response and in our logs: 1 to 64 letters, digits, `-` and `_`. Any other value is replaced. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The plan and limits of the caller. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RateLimit"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["PayloadTooLarge"];
            414: components["responses"]["UriTooLong"];
            417: components["responses"]["ExpectationFailed"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    receivePetAdded: {
        parameters: {
            query?: never;
            header: {
                /** @description Identifier of the event, or of the ping: the same at each attempt. An event may arrive twice; do nothing the second time. */
                "webhook-id": components["parameters"]["ReceivedId"];
                /** @description When it was sent, in Unix seconds. Refuse one that is more than five minutes old. */
                "webhook-timestamp": components["parameters"]["ReceivedTimestamp"];
                /** @description Its signatures, with spaces between them: one, or two after a rotation of the secret. One must be right. */
                "webhook-signature": components["parameters"]["ReceivedSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @example pet.added
                     * @constant
                     */
                    type: "pet.added";
                    /**
                     * Format: date-time
                     * @description When it happened.
                     * @example 2026-11-21T12:00:00.000Z
                     */
                    timestamp: string;
                    data: components["schemas"]["Pet"];
                };
            };
        };
        responses: {
            /** @description Nothing more shall be sent: the webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description It has arrived. Any other answer is a failure, and it is sent again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    receivePetChanged: {
        parameters: {
            query?: never;
            header: {
                /** @description Identifier of the event, or of the ping: the same at each attempt. An event may arrive twice; do nothing the second time. */
                "webhook-id": components["parameters"]["ReceivedId"];
                /** @description When it was sent, in Unix seconds. Refuse one that is more than five minutes old. */
                "webhook-timestamp": components["parameters"]["ReceivedTimestamp"];
                /** @description Its signatures, with spaces between them: one, or two after a rotation of the secret. One must be right. */
                "webhook-signature": components["parameters"]["ReceivedSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @example pet.changed
                     * @constant
                     */
                    type: "pet.changed";
                    /**
                     * Format: date-time
                     * @description When it happened.
                     * @example 2026-11-21T12:00:00.000Z
                     */
                    timestamp: string;
                    data: components["schemas"]["Pet"];
                };
            };
        };
        responses: {
            /** @description Nothing more shall be sent: the webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description It has arrived. Any other answer is a failure, and it is sent again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    receivePetRemoved: {
        parameters: {
            query?: never;
            header: {
                /** @description Identifier of the event, or of the ping: the same at each attempt. An event may arrive twice; do nothing the second time. */
                "webhook-id": components["parameters"]["ReceivedId"];
                /** @description When it was sent, in Unix seconds. Refuse one that is more than five minutes old. */
                "webhook-timestamp": components["parameters"]["ReceivedTimestamp"];
                /** @description Its signatures, with spaces between them: one, or two after a rotation of the secret. One must be right. */
                "webhook-signature": components["parameters"]["ReceivedSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @example pet.removed
                     * @constant
                     */
                    type: "pet.removed";
                    /**
                     * Format: date-time
                     * @description When it happened.
                     * @example 2026-11-21T12:00:00.000Z
                     */
                    timestamp: string;
                    data: components["schemas"]["Pet"];
                };
            };
        };
        responses: {
            /** @description Nothing more shall be sent: the webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description It has arrived. Any other answer is a failure, and it is sent again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    receiveOrderPlaced: {
        parameters: {
            query?: never;
            header: {
                /** @description Identifier of the event, or of the ping: the same at each attempt. An event may arrive twice; do nothing the second time. */
                "webhook-id": components["parameters"]["ReceivedId"];
                /** @description When it was sent, in Unix seconds. Refuse one that is more than five minutes old. */
                "webhook-timestamp": components["parameters"]["ReceivedTimestamp"];
                /** @description Its signatures, with spaces between them: one, or two after a rotation of the secret. One must be right. */
                "webhook-signature": components["parameters"]["ReceivedSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @example order.placed
                     * @constant
                     */
                    type: "order.placed";
                    /**
                     * Format: date-time
                     * @description When it happened.
                     * @example 2026-11-21T12:00:00.000Z
                     */
                    timestamp: string;
                    data: components["schemas"]["Order"];
                };
            };
        };
        responses: {
            /** @description Nothing more shall be sent: the webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description It has arrived. Any other answer is a failure, and it is sent again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    receiveOrderCompleted: {
        parameters: {
            query?: never;
            header: {
                /** @description Identifier of the event, or of the ping: the same at each attempt. An event may arrive twice; do nothing the second time. */
                "webhook-id": components["parameters"]["ReceivedId"];
                /** @description When it was sent, in Unix seconds. Refuse one that is more than five minutes old. */
                "webhook-timestamp": components["parameters"]["ReceivedTimestamp"];
                /** @description Its signatures, with spaces between them: one, or two after a rotation of the secret. One must be right. */
                "webhook-signature": components["parameters"]["ReceivedSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @example order.completed
                     * @constant
                     */
                    type: "order.completed";
                    /**
                     * Format: date-time
                     * @description When it happened.
                     * @example 2026-11-21T12:00:00.000Z
                     */
                    timestamp: string;
                    data: components["schemas"]["Order"];
                };
            };
        };
        responses: {
            /** @description Nothing more shall be sent: the webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description It has arrived. Any other answer is a failure, and it is sent again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    receiveOrderCancelled: {
        parameters: {
            query?: never;
            header: {
                /** @description Identifier of the event, or of the ping: the same at each attempt. An event may arrive twice; do nothing the second time. */
                "webhook-id": components["parameters"]["ReceivedId"];
                /** @description When it was sent, in Unix seconds. Refuse one that is more than five minutes old. */
                "webhook-timestamp": components["parameters"]["ReceivedTimestamp"];
                /** @description Its signatures, with spaces between them: one, or two after a rotation of the secret. One must be right. */
                "webhook-signature": components["parameters"]["ReceivedSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @example order.cancelled
                     * @constant
                     */
                    type: "order.cancelled";
                    /**
                     * Format: date-time
                     * @description When it happened.
                     * @example 2026-11-21T12:00:00.000Z
                     */
                    timestamp: string;
                    data: components["schemas"]["Order"];
                };
            };
        };
        responses: {
            /** @description Nothing more shall be sent: the webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description It has arrived. Any other answer is a failure, and it is sent again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    receiveOrderExpired: {
        parameters: {
            query?: never;
            header: {
                /** @description Identifier of the event, or of the ping: the same at each attempt. An event may arrive twice; do nothing the second time. */
                "webhook-id": components["parameters"]["ReceivedId"];
                /** @description When it was sent, in Unix seconds. Refuse one that is more than five minutes old. */
                "webhook-timestamp": components["parameters"]["ReceivedTimestamp"];
                /** @description Its signatures, with spaces between them: one, or two after a rotation of the secret. One must be right. */
                "webhook-signature": components["parameters"]["ReceivedSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @example order.expired
                     * @constant
                     */
                    type: "order.expired";
                    /**
                     * Format: date-time
                     * @description When it happened.
                     * @example 2026-11-21T12:00:00.000Z
                     */
                    timestamp: string;
                    data: components["schemas"]["Order"];
                };
            };
        };
        responses: {
            /** @description Nothing more shall be sent: the webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description It has arrived. Any other answer is a failure, and it is sent again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    receiveMessageSent: {
        parameters: {
            query?: never;
            header: {
                /** @description Identifier of the event, or of the ping: the same at each attempt. An event may arrive twice; do nothing the second time. */
                "webhook-id": components["parameters"]["ReceivedId"];
                /** @description When it was sent, in Unix seconds. Refuse one that is more than five minutes old. */
                "webhook-timestamp": components["parameters"]["ReceivedTimestamp"];
                /** @description Its signatures, with spaces between them: one, or two after a rotation of the secret. One must be right. */
                "webhook-signature": components["parameters"]["ReceivedSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @example message.sent
                     * @constant
                     */
                    type: "message.sent";
                    /**
                     * Format: date-time
                     * @description When it happened.
                     * @example 2026-11-21T12:00:00.000Z
                     */
                    timestamp: string;
                    data: components["schemas"]["Message"];
                };
            };
        };
        responses: {
            /** @description Nothing more shall be sent: the webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description It has arrived. Any other answer is a failure, and it is sent again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    receiveMessageFailed: {
        parameters: {
            query?: never;
            header: {
                /** @description Identifier of the event, or of the ping: the same at each attempt. An event may arrive twice; do nothing the second time. */
                "webhook-id": components["parameters"]["ReceivedId"];
                /** @description When it was sent, in Unix seconds. Refuse one that is more than five minutes old. */
                "webhook-timestamp": components["parameters"]["ReceivedTimestamp"];
                /** @description Its signatures, with spaces between them: one, or two after a rotation of the secret. One must be right. */
                "webhook-signature": components["parameters"]["ReceivedSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @example message.failed
                     * @constant
                     */
                    type: "message.failed";
                    /**
                     * Format: date-time
                     * @description When it happened.
                     * @example 2026-11-21T12:00:00.000Z
                     */
                    timestamp: string;
                    data: components["schemas"]["Message"];
                };
            };
        };
        responses: {
            /** @description Nothing more shall be sent: the webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description It has arrived. Any other answer is a failure, and it is sent again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    receiveWebhookPing: {
        parameters: {
            query?: never;
            header: {
                /** @description Identifier of the event, or of the ping: the same at each attempt. An event may arrive twice; do nothing the second time. */
                "webhook-id": components["parameters"]["ReceivedId"];
                /** @description When it was sent, in Unix seconds. Refuse one that is more than five minutes old. */
                "webhook-timestamp": components["parameters"]["ReceivedTimestamp"];
                /** @description Its signatures, with spaces between them: one, or two after a rotation of the secret. One must be right. */
                "webhook-signature": components["parameters"]["ReceivedSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @example webhook.ping
                     * @constant
                     */
                    type: "webhook.ping";
                    /**
                     * Format: date-time
                     * @description When it happened.
                     * @example 2026-11-21T12:00:00.000Z
                     */
                    timestamp: string;
                    /**
                     * @description The webhook.
                     * @example {
                     *       "id": "whk_7Qm2ZcX9tR4bLk0VhJ5sWy1d"
                     *     }
                     */
                    data: {
                        /** @example whk_7Qm2ZcX9tR4bLk0VhJ5sWy1d */
                        id: string;
                    };
                };
            };
        };
        responses: {
            /** @description Nothing more shall be sent: the webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description It has arrived. Any other answer is a failure, and it is sent again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
