import type {
  Account,
  AccountUsage,
  Animal,
  ApiKey,
  Category,
  CategoryId,
  PetStatus,
  Scope,
  ShownKeys,
} from '@adoption-store/domain';

/** The messages about a form by field, and `form` for a problem of the whole form. */
export type Problems = Readonly<Record<string, string>>;

/** The properties of every page. */
export interface Frame {
  /** The account of the signed-in person. */
  readonly account?: Account | undefined;
  /** For the hidden field `_csrf` of every form. Every page has it, because of the button that signs out. */
  readonly csrf: string;
  /** The API's address without `/v1`, such as `https://api.example.com`. */
  readonly api: string;
  /** Whether passwords can be reset by e-mail. */
  readonly canReset: boolean;
  /**
   * The address of each file of `public/` by name. It changes with the file, so that browsers can cache it for ever.
   */
  readonly files: Readonly<Record<string, string>>;
  /** A confirmation, shown once at the top of the page. */
  readonly notice?: string | undefined;
}

/** A form that is shown again with its values, without passwords. */
export interface Form {
  readonly values: Readonly<Record<string, string>>;
  readonly problems: Problems;
}

/** A form whose token was refused. A button sends it again to `action`, with a new token. */
export interface RefusedForm {
  readonly action: string;
  /** Passwords have to be typed again. */
  readonly fields: readonly {
    readonly name: string;
    readonly label: string;
    readonly value: string;
    readonly isPassword: boolean;
  }[];
  /** The scopes whose boxes were checked. */
  readonly scopes: readonly Scope[];
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
  /** POST /sign-in: `email`, `password`. */
  readonly 'sign-in': Form;
  /** POST /forgotten-password: `email`. `isSent` after it was posted, whether or not there is such an account. */
  readonly 'forgotten-password': Form & { readonly isSent: boolean };
  /**
   * POST /reset-password: `token`, `password`. The token is in the mailed link after the `#`, so that no server and no
   * log receives it. A script puts it into the field; without JavaScript the person pastes it.
   */
  readonly 'reset-password': Form;
  /** POST /confirm-address: `token`, which is in the mailed link as for `reset-password`. */
  readonly 'confirm-address': Form;
  /**
   * The forms of `/account`: POST /account/password (`current`, `next`) and POST /account/close (`password`), each with
   * its own problems, and POST /account/proof.
   */
  readonly account: { readonly password: Form; readonly close: Form };
  /**
   * POST /keys: `name` (may be empty), `expiresIn` (days, may be empty), `scopes` (repeated). There is a box for each of
   * the `offered` scopes; those of `checked` are checked. `older` is the address of the next page of
   * past keys; `isLater` marks such a page. `now` is needed for the state of each past key.
   */
  readonly keys: Form &
    Omit<ShownKeys, 'next'> & {
      readonly offered: readonly Scope[];
      readonly checked: readonly Scope[];
      readonly older: string | undefined;
      readonly isLater: boolean;
      readonly now: number;
    };
  /** The answer to POST /keys and POST /keys/{id}/rotate. It is the only page that shows a key's text. */
  readonly 'new-key': { readonly text: string; readonly key: ApiKey; readonly replaced?: ApiKey | undefined };
  /** `/keys/{id}/rotate`; POST there: `overlap` (hours, 0 to 720, default 24). */
  readonly 'rotate-key': Form & { readonly key: ApiKey };
  /** `/keys/{id}/revoke`, the confirmation; POST there. */
  readonly 'revoke-key': { readonly key: ApiKey };
  readonly usage: { readonly usage: AccountUsage; readonly now: number };
  readonly plan: object;
  readonly quickstart: object;
  /**
   * `/catalogue?status=&categoryId=&cursor=`; POST /catalogue adds an animal, if the account `mayAdd` one: `name`,
   * `categoryId`, `status`.
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
    /** The query of this list, with `?`, for each status. */
    readonly queryOf: (status: PetStatus | undefined) => string;
    readonly mayAdd: boolean;
    readonly status?: PetStatus | undefined;
    /** The address of the next page. */
    readonly next?: string | undefined;
  };
  /**
   * `/categories?cursor=`; POST /categories adds one, if the account `mayChange` them: `name`, `number` (may be empty).
   */
  readonly categories: Form & {
    readonly categories: readonly Category[];
    readonly mayChange: boolean;
    /** The address of the next page. */
    readonly next?: string | undefined;
  };
  /** `/categories/{id}/name`; POST there: `name`. The id may have no `current` name. */
  readonly 'name-category': Form & { readonly id: bigint; readonly current?: string | undefined };
  /** `/categories/{id}/remove`, the confirmation; POST there. */
  readonly 'remove-category': Form & { readonly category: Category };
  /** Errors: 403, 404, 429, 500, 503. `message` is a sentence for people. */
  readonly error: {
    readonly status: number;
    readonly title: string;
    readonly message: string;
    readonly refused?: RefusedForm | undefined;
  };
}
