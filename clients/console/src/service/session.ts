import { handDraftsTo } from "../drafts";
import { CONSOLE } from "./settings";
import { shared } from "./store";

/** Another way to sign in than by password. */
export interface OtherWay {
  readonly label: string;
  readonly href: string;
}

/** Who sits here. */
export interface SessionState {
  readonly state: "unknown" | "away" | "none" | "must_change_password" | "present";
  readonly email: string;
  readonly ways: readonly OtherWay[];
  /** Somebody was signed in on this page, and the session ended. */
  readonly ended: boolean;
}

const NOBODY: SessionState = { state: "unknown", email: "", ways: [], ended: false };

/** The state that pages look at. */
export const session = shared<SessionState>(NOBODY);

interface Answer {
  readonly state?: SessionState["state"];
  readonly email?: string;
  readonly ways?: readonly OtherWay[];
  readonly message?: string;
  readonly error_description?: string;
}

async function ask(step: string, fields?: Record<string, string>): Promise<Answer> {
  const query = fields === undefined ? `?return_to=${encodeURIComponent(location.pathname + location.search)}` : "";
  const answer = await fetch(`${CONSOLE}session${step}${query}`, {
    ...(fields !== undefined && {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(fields),
    }),
  });
  const said = (await answer.json().catch(() => ({}))) as Answer;
  if (answer.ok) return said;
  throw new Error(said.message ?? said.error_description ?? "The service does not answer at the moment: try again.");
}

const AGAIN_MS = 2_000;

/** Asks who is signed in, until the service answers. */
export async function readSession(): Promise<void> {
  try {
    const { state = "none", email = "", ways = [] } = await ask("");
    if (email !== "") handDraftsTo(email);
    session.set({ state, email, ways, ended: false });
  } catch {
    session.set({ ...session.get(), state: "away" });
    setTimeout(() => void readSession(), AGAIN_MS);
  }
}

/** The service did not know the session any more: what is on the page stays there. */
export async function sessionEnded(): Promise<void> {
  const before = session.get();
  if (before.state !== "present" || before.ended) return;
  session.set({ ...before, ended: true });
  const { ways = [] } = await ask("").catch((): Answer => ({}));
  session.set({ ...session.get(), ways });
}

function take({ state = "present", email = "" }: Answer): void {
  const before = session.get();
  const isOther = handDraftsTo(email);
  // What somebody else has on the page is theirs.
  if (before.ended && (isOther || before.email !== email)) location.reload();
  else session.set({ ...before, state, email, ended: false });
}

/** @throws Error with a sentence for the person. */
export async function signIn(email: string, password: string): Promise<void> {
  take(await ask("", { email, password }));
}

/** @throws Error with a sentence for the person. */
export async function choosePassword(current: string, next: string): Promise<void> {
  take(await ask("/password", { current, next }));
}

/** Signs out here, and forgets what was written. @throws Error if the service does not answer. */
export async function signOut(): Promise<void> {
  await ask("/end", {});
  sessionStorage.clear();
  location.assign(CONSOLE);
}
