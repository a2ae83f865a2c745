/** Why nobody is signed in, in a word that stays; audit records carry it. */
export type RefusalReason =
  | "unknown_provider"
  | "foreign_return"
  | "other_browser"
  | "expired"
  | "used"
  | "busy"
  | "provider_unavailable"
  | "provider_refused"
  | "not_verified"
  | "groups_unknown"
  | "email_not_verified"
  | "email_of_other_domain"
  | "no_user"
  | "user_deleted"
  | "user_disabled"
  | "service_account"
  | "linked_to_another";

/** Nobody is signed in. The message is a sentence for the person; the cause is for the log alone. */
export class SignInRefusedError extends Error {
  constructor(
    readonly reason: RefusalReason,
    message: string,
    /** What audit records say of it, if that is known. */
    readonly about: { readonly userId?: string; readonly email?: string; readonly subject?: string } = {},
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}
