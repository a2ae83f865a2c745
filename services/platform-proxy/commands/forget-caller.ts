import type { Context } from "../context.js";

/** Forgets what is kept for a user, and ends the user's sessions at the platforms. */
export async function forgetCaller(
  { identities, platforms }: Context,
  { userId }: { readonly userId: string },
): Promise<Record<never, never>> {
  identities.forget(userId);
  await Promise.all(platforms.map(({ adapter }) => adapter.forget?.(userId)));
  return {};
}
