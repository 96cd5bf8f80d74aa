import type { Account, AccountUsage, Animal, ApiKey, PetStatus, ShownKeys } from '@adoption-store/domain';

/** The problems of a form: a message for each field by its name, and `form` for a problem of the whole form. */
export type Problems = Readonly<Record<string, string>>;

/** The properties of every page. */
export interface Frame {
  /** Of the person who is signed in. */
  readonly account?: Account | undefined;
  /** For the hidden field `_csrf` of every form; pages without forms have it too, for the button that signs out. */
  readonly csrf: string;
  /** Such as `https://api.example.com`: the API's address, without `/v1`. */
  readonly api: string;
  /** Whether passwords can be reset by e-mail. */
  readonly canReset: boolean;
  /** The address of each file of `public/`, by its name; it changes with the file, so that browsers may keep it. */
  readonly files: Readonly<Record<string, string>>;
  /** A confirmation, shown once at the top of the page. */
  readonly notice?: string | undefined;
}

/** A form that is shown again with what was written into it, never with a password. */
export interface Form {
  readonly values: Readonly<Record<string, string>>;
  readonly problems: Problems;
}

/** A form whose token was refused: a button sends it again to `action`, with a token of now. */
export interface RefusedForm {
  readonly action: string;
  /** A password has to be typed again. */
  readonly fields: readonly {
    readonly name: string;
    readonly label: string;
    readonly value: string;
    readonly isPassword: boolean;
  }[];
}

/**
 * The properties of each template of `views/`, beside those of the frame. A page is `<name>.eta`; `layout.eta` frames it.
 * The names are also the pages' addresses, but where the comment says otherwise.
 */
export interface Views {
  /** `/`: what this is, for whoever isn't signed in; whoever is goes to `/keys`. */
  readonly home: object;
  /** POST /sign-up: `email`, `password`. */
  readonly 'sign-up': Form;
  /** POST /sign-in: `email`, `password`. */
  readonly 'sign-in': Form;
  /** POST /forgotten-password: `email`. `isSent` once it was posted, whether or not there is such an account. */
  readonly 'forgotten-password': Form & { readonly isSent: boolean };
  /**
   * POST /reset-password: `token`, `password`. The token comes in the mail's link behind the `#`, so that no server and no
   * log sees it: a script puts it into the field, and without JavaScript the person pastes it.
   */
  readonly 'reset-password': Form;
  /** POST /confirm-address: `token`, which comes as that of `reset-password` does. */
  readonly 'confirm-address': Form;
  /**
   * The forms of `/account`: POST /account/password (`current`, `next`), POST /account/close (`password`), each of which
   * shows its own problems, and POST /account/proof.
   */
  readonly account: { readonly password: Form; readonly close: Form };
  /**
   * POST /keys: `name` (may be empty), `expiresIn` (days, may be empty). `older` is the address of the page with the next
   * keys that are over, `isLater` says that this is such a page; `now` tells why each of them is.
   */
  readonly keys: Form &
    Omit<ShownKeys, 'next'> & { readonly older: string | undefined; readonly isLater: boolean; readonly now: number };
  /** The answer to POST /keys and POST /keys/{id}/rotate: the one sight of a key's text. */
  readonly 'new-key': { readonly text: string; readonly key: ApiKey; readonly replaced?: ApiKey | undefined };
  /** `/keys/{id}/rotate`; POST there: `overlap` (hours, 0 to 720, 24 unless changed). */
  readonly 'rotate-key': Form & { readonly key: ApiKey };
  /** `/keys/{id}/revoke`, the second look; POST there. */
  readonly 'revoke-key': { readonly key: ApiKey };
  readonly usage: { readonly usage: AccountUsage; readonly now: number };
  readonly plan: object;
  readonly quickstart: object;
  /** `/catalogue?status=&cursor=`; POST /catalogue adds one: `name`, `categoryId`, `status`. */
  readonly catalogue: Form & {
    readonly animals: readonly Animal[];
    readonly status?: PetStatus | undefined;
    /** The address of the next page. */
    readonly next?: string | undefined;
  };
  /** Any refusal: 403, 404, 429, 500, 503. `message` is a sentence for a person. */
  readonly error: {
    readonly status: number;
    readonly title: string;
    readonly message: string;
    readonly refused?: RefusedForm | undefined;
  };
}
