import type {
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
  PetStatus,
  Scope,
  ShownKey,
  ShownKeys,
  ShownRefusal,
} from '@adoption-store/domain';
import type { DeprecatedUse } from '@adoption-store/web';

/** The messages about a form by field, and `form` for a problem of the whole form. */
export type Problems = Readonly<Record<string, string>>;

/** The properties of every page. */
export interface Frame {
  /** The account of the signed-in person. */
  readonly account?: Account | undefined;
  /** The address of the page, or of the one around the form that was sent. */
  readonly here: string;
  /** For the hidden field `_csrf` of every form. Every page has it, because of the button that signs out. */
  readonly csrf: string;
  /** The API's address without `/v1`, such as `https://api.example.com`. */
  readonly api: string;
  /** Where to reach the operator of the service: an address, and the text of the link to it. */
  readonly contact?: { readonly href: string; readonly text: string } | undefined;
  /** How long the session lasts, in milliseconds. */
  readonly session?: { readonly left: number; readonly most: number } | undefined;
  /** Whether passwords can be reset by e-mail. */
  readonly canReset: boolean;
  /**
   * The address of each file of `public/` by name. It changes with the file, so that browsers can cache it for ever.
   */
  readonly files: Readonly<Record<string, string>>;
  /** A confirmation, shown once at the top of the page. */
  readonly notice?: string | undefined;
  /** Whether the page shows a refused form again. Its title then says so. */
  readonly hasProblems: boolean;
  readonly now: Instant;
}

/** A form that is shown again with its values, without passwords. */
export interface Form {
  readonly values: Readonly<Record<string, string>>;
  readonly problems: Problems;
  /** The link after the problem of a field, by field. */
  readonly links?: Readonly<Record<string, { readonly href: string; readonly text: string }>> | undefined;
}

/** A list to choose beside others. */
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
}

/**
 * The properties of each template of `views/`, in addition to the frame's. A page is `<name>.eta`; `layout.eta` frames
 * it. The name is also the page's address, unless a comment says otherwise.
 */
export interface Views {
  /** `/`: the introduction, for visitors who aren't signed in. Others are redirected to `/keys`. */
  readonly home: object;
  /** POST /sign-up: `email`, `password`. */
  readonly 'sign-up': Form;
  /** POST /sign-in: `email`, `password`. `signedOut` says why the session ended in which another form was sent. */
  readonly 'sign-in': Form & { readonly signedOut?: string | undefined };
  /** POST /forgotten-password: `email`. `isSent` after it was posted, whether or not there is such an account. */
  readonly 'forgotten-password': Form & { readonly isSent: boolean };
  /**
   * POST /reset-password: `token`, `password`. The token is in the mailed link after the `#`, so that no server and no
   * log receives it. A script puts it into the field; without JavaScript the person pastes it.
   */
  readonly 'reset-password': Form;
  /** POST /confirm-address: `token`, which is in the mailed link as for `reset-password`. */
  readonly 'confirm-address': Form;
  /** POST /confirm-new-address: `token`, likewise. */
  readonly 'confirm-new-address': Form;
  /**
   * The forms of `/account`: POST /account/address (`email`, `password`), POST /account/password (`current`, `next`) and
   * POST /account/close (`password`), each with its own problems, POST /account/proof and POST /account/sign-out-everywhere.
   */
  readonly account: { readonly address: Form; readonly password: Form; readonly close: Form };
  /**
   * `/keys?state=&name=&after=&before=`. POST /keys: `name` (may be empty), `expiresIn` (days, may be empty), `scopes`
   * (repeated). There is a box for each of the `offered` scopes; those of `checked` are checked.
   */
  readonly keys: Form &
    Pick<ShownKeys, 'items' | 'bans'> & {
      /** The deprecated operations that the keys still use. */
      readonly deprecated: ReadonlyMap<ApiKeyId, readonly DeprecatedUse[]>;
      readonly filter: Form;
      /** The states to choose from, with the address of each list. */
      readonly tabs: readonly Tab[];
      readonly paging: Paging;
      readonly offered: readonly Scope[];
      readonly checked: readonly Scope[];
    };
  /** `/keys/{id}`; POST /keys/{id}/name: `name` (may be empty); POST /keys/{id}/disable and /keys/{id}/enable. */
  readonly key: Form & ShownKey & { readonly deprecated: readonly DeprecatedUse[] };
  /** The answer to POST /keys and POST /keys/{id}/rotate. It is the only page that shows a key's text. */
  readonly 'new-key': { readonly text: string; readonly key: ApiKey; readonly replaced?: ApiKey | undefined };
  /** `/keys/{id}/rotate`; POST there: `overlap` (hours, 0 to 720, default 24). */
  readonly 'rotate-key': Form & { readonly key: ApiKey };
  /** `/keys/{id}/revoke`, the confirmation; POST there. */
  readonly 'revoke-key': { readonly key: ApiKey };
  /** `/usage?key=`: the hours and days of all keys together, or of one. */
  readonly usage: { readonly usage: AccountUsage };
  /**
   * `/refusals?request=&page=`: the last refused requests, page by page, or those with the id that was `asked` for. The
   * links lead to other pages.
   */
  readonly refusals: {
    readonly refusals: readonly ShownRefusal[];
    readonly asked: string;
    readonly newer?: string | undefined;
    readonly older?: string | undefined;
  };
  readonly plan: object;
  readonly quickstart: object;
  /**
   * `/catalogue?status=&categoryId=&id=&after=&before=`; POST /catalogue adds an animal, if the account `mayAdd` one:
   * `name`, `categoryId`, `status`.
   */
  readonly catalogue: Form & {
    readonly category?: CategoryId | undefined;
    readonly animals: readonly Animal[];
    /** The names of the animals' categories. */
    readonly names: ReadonlyMap<CategoryId, string>;
    /** The first categories, to choose from. */
    readonly categories: readonly Category[];
    /** Those, and the `category` if it isn't one of them. */
    readonly choices: readonly { readonly id: CategoryId; readonly name?: string | undefined }[];
    readonly filter: Form;
    /** The address of this list for each status. */
    readonly addressOf: (status: PetStatus | undefined) => string;
    /** The id of the animal that was just added. */
    readonly added: bigint | undefined;
    readonly mayAdd: boolean;
    readonly status?: PetStatus | undefined;
    readonly paging: Paging;
  };
  /**
   * `/categories?after=&before=`; POST /categories adds one, if the account `mayChange` them: `name`, `number` (may be empty).
   */
  readonly categories: Form & {
    readonly categories: readonly Category[];
    readonly mayChange: boolean;
    /** The id of the category that was just added or renamed. */
    readonly changed: bigint | undefined;
    readonly paging: Paging;
  };
  /**
   * `/categories/{id}/name`; POST there: `name`, and the `version` that was shown, which is empty if the id had no
   * `current` name.
   */
  readonly 'name-category': Form & {
    readonly id: bigint;
    readonly current?: string | undefined;
    readonly version: string;
  };
  /** `/orders?status=&after=&before=`: the account's orders, with the names of the animals that are still there. */
  readonly orders: {
    readonly orders: readonly Order[];
    readonly names: ReadonlyMap<bigint, string>;
    readonly filter: Form;
    readonly tabs: readonly Tab[];
    readonly paging: Paging;
  };
  /** `/messages?after=&before=`: the account's messages. */
  readonly messages: { readonly messages: readonly Message[]; readonly paging: Paging };
  /** `/messages/{id}` */
  readonly message: { readonly message: Message };
  /** `/categories/{id}/remove`, the confirmation; POST there. */
  readonly 'remove-category': Form & { readonly category: Category };
  /**
   * Errors: 403, 404, 429, 500, 503. `message` is a sentence for people. `retryAfter`, in seconds, is with 429 and 503.
   */
  readonly error: {
    readonly status: number;
    readonly title: string;
    readonly message: string;
    /** Whether only the operator can help. */
    readonly needsContact?: boolean | undefined;
    readonly retryAfter?: number | undefined;
    /** The address of the page, to try again. */
    readonly again?: string | undefined;
    /** Whether a form was sent. */
    readonly isForm: boolean;
  };
}
