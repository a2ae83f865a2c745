/** Where notices are sent, and what they are signed with. */
export interface WebhookSettings {
  readonly url: URL;
  /** The newest first; a receiver that knows any of them verifies what it gets. */
  readonly secrets: readonly Buffer[];
}
