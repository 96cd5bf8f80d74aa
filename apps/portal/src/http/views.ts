import type {
  DeliveriesOfWebhook,
  DeliveryOfWebhook,
  Account,
  AccountUsage,
  Animal,
  ApiKey,
  ApiKeyId,
  Category,
  CategoryId,
  Instant,
  Message,
  Order,
  OrderWithExpiry,
  PetStatus,
  PeriodOfUsage,
  Scope,
  ShownKey,
  ShownKeys,
  ListFailedRequestsInput,
  ShownFailedRequests,
  SignUpWay,
  UsageSpan,
  Webhook,
  WebhookDelivery,
  WebhookWithFailures,
  WebhookWithSecret,
} from '@adoption-store/domain';
import type { DeprecatedUse } from '@adoption-store/web';
import type { Form } from './forms.js';

export interface Frame {
  readonly account?: Account | undefined;
  /** The address of this page, or of the page that had the sent form. */
  readonly here: string;
  /** For the hidden field `_csrf` of every form. Every page has it, because of the button that signs out. */
  readonly csrf: string;
  /** The API's address without `/v1`, such as `https://api.example.com`. */
  readonly api: string;
  /** The portal's own address, if it is set. */
  readonly portalUrl?: string | undefined;
  /** Where this request found the portal, as far as it can tell behind a proxy. */
  readonly origin: string;
  /** The name of the file with the typed client, if the portal was built. */
  readonly packedClient: string | undefined;
  /** Where to reach the operator of the service: an address, and the text of the link to it. */
  readonly contact?: { readonly href: string; readonly text: string } | undefined;
  /** How long the session lasts, in milliseconds. */
  readonly session?: { readonly left: number; readonly most: number } | undefined;
  /** The address of each file of `public/` by name. It changes with the file, so that browsers can cache it for ever. */
  readonly files: Readonly<Record<string, string>>;
  /** A confirmation, shown once at the top of the page. */
  readonly notice?: string | undefined;
  /** Whether the page shows a refused form again. Its title then says so. */
  readonly hasProblems: boolean;
  readonly now: Instant;
  /** The functions of `view-helpers.ts`. */
  readonly helpers: object;
}

export interface Tab {
  readonly name: string;
  readonly address: string;
  readonly isCurrent: boolean;
}

/** The addresses of the pages around a page of a list, for `paging.eta`. */
export interface Paging {
  readonly first: string | undefined;
  readonly previous: string | undefined;
  readonly next: string | undefined;
  /** Such as `21–40`, or `21–30 of 30` at the end of the list. Undefined if the position isn't known. */
  readonly range: string | undefined;
}

interface ListView {
  readonly filter: Form;
  readonly tabs: readonly Tab[];
  readonly paging: Paging;
}

interface FormPage {
  readonly form: Form;
}

export interface UsageRange {
  readonly name: string;
  readonly span: UsageSpan;
  readonly count: number;
}

export interface ListedWebhook {
  readonly webhook: WebhookWithFailures;
  readonly last: WebhookDelivery | undefined;
}

/**
 * The properties of each template of `views/`, in addition to the frame's. A page is `<name>.eta`; `layout.eta` frames
 * it. The name is also the page's address, unless a comment says otherwise.
 */
export interface Views {
  /** `/`: the introduction, for visitors who aren't signed in. Others are redirected to `/keys`. */
  readonly home: object;
  /** `isSent` after it was posted where a link is mailed, whether or not the address has an account. */
  readonly 'sign-up': FormPage & { readonly way: SignUpWay; readonly isSent: boolean };
  /** `signedOut` says why the session has ended, if another form was sent after its end. */
  readonly 'sign-in': FormPage & { readonly signedOut?: string };
  /** `isSent` after it was posted, whether or not there is such an account. */
  readonly 'forgotten-password': FormPage & { readonly canReset: boolean; readonly isSent: boolean };
  /**
   * The token is in the mailed link after the `#`, so that no server and no log receives it. A script puts it into the
   * field; without JavaScript the person pastes it.
   */
  readonly 'reset-password': FormPage;
  readonly 'finish-sign-up': FormPage;
  readonly 'confirm-new-address': FormPage;
  readonly account: {
    readonly address: Form;
    readonly password: Form;
    readonly close: Form;
    readonly canReset: boolean;
  };
  readonly access: {
    readonly keys: readonly ApiKey[];
    readonly hasMore: boolean;
    readonly webhooks: readonly Webhook[];
  };
  /** There is a box for each of the `offered` scopes; those of the form's `checked` are checked. */
  readonly keys: FormPage &
    ListView &
    Pick<ShownKeys, 'items' | 'bans'> & {
      /** The deprecated operations that the keys still use. */
      readonly deprecated: ReadonlyMap<ApiKeyId, readonly DeprecatedUse[]>;
      readonly offered: readonly Scope[];
    };
  /** `/keys/{id}` */
  readonly key: FormPage & ShownKey & { readonly deprecated: readonly DeprecatedUse[] };
  /** The answer to POST /keys and POST /keys/{id}/rotate. It is the only page that shows a key's text. */
  readonly 'new-key': { readonly text: string; readonly key: ApiKey; readonly replaced?: ApiKey | undefined };
  /** `/keys/{id}/rotate` */
  readonly 'rotate-key': FormPage & { readonly key: ApiKey };
  /** `/keys/{id}/revoke`, the confirmation. */
  readonly 'revoke-key': { readonly key: ApiKey };
  /** The chart shows the `periods` of a range, of all keys together or of one. */
  readonly usage: {
    readonly usage: AccountUsage;
    readonly range: UsageRange;
    readonly periods: readonly PeriodOfUsage[];
    readonly tabs: readonly Tab[];
  };
  /** The last failed requests that were `asked` for, page by page, with the codes and keys that can be asked for. */
  readonly refusals: {
    readonly failedRequests: readonly ShownFailedRequests[];
    readonly asked: Omit<ListFailedRequestsInput, 'accountId'>;
    readonly codes: readonly string[];
    readonly keys: readonly Pick<ApiKey, 'id' | 'name' | 'ending'>[];
    readonly paging: Paging;
  };
  readonly plan: object;
  readonly quickstart: object;
  /** The form adds an animal, if the account `mayAdd` one. */
  readonly catalogue: FormPage &
    ListView & {
      readonly category?: CategoryId | undefined;
      readonly animals: readonly Animal[];
      readonly names: ReadonlyMap<CategoryId, string>;
      /** The first categories, as they are typed into a form. */
      readonly offered: readonly string[];
      /** The first categories, and `category` if it isn't among them. */
      readonly choices: readonly { readonly id: CategoryId; readonly name?: string | undefined }[];
      /** The id of the animal that was just added. */
      readonly added: bigint | undefined;
      readonly mayAdd: boolean;
      readonly status?: PetStatus | undefined;
    };
  /** `/catalogue/{id}`. The form has the `version` that was shown. `category` is its name, if it has one. */
  readonly animal: FormPage & {
    readonly animal: Animal;
    readonly category?: string | undefined;
    /** The first categories, as they are typed into a form. */
    readonly offered: readonly string[];
    /** The account's orders of this animal, among as many of its newest as were `searched`: all if undefined. */
    readonly orders: readonly Order[];
    readonly searched: number | undefined;
    readonly mayChange: boolean;
  };
  /** `/catalogue/{id}/withdraw`, the confirmation. */
  readonly 'withdraw-animal': FormPage & { readonly animal: Animal };
  /** The form adds a category, if the account `mayChange` them. */
  readonly categories: FormPage & {
    readonly categories: readonly Category[];
    readonly mayChange: boolean;
    /** The id of the category that was just added or renamed. */
    readonly changed: bigint | undefined;
    readonly paging: Paging;
  };
  /** `/categories/{id}/name`. The form has the `version` that was shown, which is empty if the id had no `current` name. */
  readonly 'name-category': FormPage & { readonly id: bigint; readonly current?: string | undefined };
  /** `/categories/{id}/remove`, the confirmation. */
  readonly 'remove-category': FormPage & { readonly category: Category; readonly isUsed: boolean };
  /** The account's orders, with the names of the animals that are still there. */
  readonly orders: ListView & {
    readonly orders: readonly Order[];
    readonly names: ReadonlyMap<bigint, string>;
  };
  /** `/orders/{id}`. The `animal` is undefined once it was withdrawn. */
  readonly order: FormPage & {
    readonly order: OrderWithExpiry;
    readonly animal: Animal | undefined;
    readonly mayCancel: boolean;
    readonly mayComplete: boolean;
  };
  readonly messages: { readonly messages: readonly Message[]; readonly filter: Form; readonly paging: Paging };
  /** `/messages/{id}` */
  readonly message: { readonly message: Message };
  /** All webhooks, each with its last delivery. They are edited, and the form adds one, if the account `mayHaveSent` events. */
  readonly webhooks: FormPage & { readonly webhooks: readonly ListedWebhook[]; readonly mayHaveSent: boolean };
  /** `/webhooks/{id}`, with `paging` through its deliveries. */
  readonly webhook: Pick<DeliveriesOfWebhook, 'webhook'> & {
    readonly deliveries: readonly WebhookDelivery[];
    readonly paging: Paging;
    /** A refused form that has only a button. */
    readonly action?: Form;
    /** What it is to be sent again. */
    readonly recovery: Form;
    readonly mayChange: boolean;
    /** Whether it may also edit or enable it, or have something sent again. */
    readonly mayHaveSent: boolean;
  };
  /** `/webhooks/{id}/edit` */
  readonly 'edit-webhook': FormPage & { readonly id: string };
  /** `/webhooks/{id}/deliveries/{id}` */
  readonly delivery: DeliveryOfWebhook & { readonly mayChange: boolean; readonly mayHaveSent: boolean };
  /** The answer to POST /webhooks and POST /webhooks/{id}/rotate. It is the only page that shows a secret. */
  readonly 'new-secret': WebhookWithSecret & {
    /** When the former secret stops signing. */
    readonly formerUntil?: Instant;
  };
  readonly error: {
    readonly status: number;
    readonly title: string;
    readonly message: string;
    /** Whether a new password by mail ends the wait. */
    readonly offersReset?: boolean;
    /** Whether only the operator can help. */
    readonly needsContact?: boolean | undefined;
    /** In seconds, with 429 and 503. */
    readonly retryAfter?: number | undefined;
    /** The address of the page, to try again. */
    readonly again?: string | undefined;
    readonly isForm: boolean;
  };
}
