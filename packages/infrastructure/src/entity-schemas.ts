import { accountSchema } from './accounts/account.schema.js';
import { apiKeySchema } from './accounts/api-key.schema.js';
import { animalSchema } from './animals/animal.schema.js';
import { categorySchema } from './categories/category.schema.js';
import { messageSchema } from './messages/message.schema.js';
import { orderSchema } from './orders/order.schema.js';
import { sessionSchema } from './sessions/session.schema.js';
import { webhookSchema } from './webhooks/webhook.schema.js';

export const entitySchemas = [
  accountSchema,
  animalSchema,
  apiKeySchema,
  categorySchema,
  messageSchema,
  orderSchema,
  sessionSchema,
  webhookSchema,
];
