import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { QueryClient } from "@tanstack/react-query";
import { awaitService, isOutage } from "./reach";
import { sessionEnded } from "./session";
import { BASE } from "./settings";

/** After these nobody knows what became of a write. Unknown is an answer that our service did not write. */
const LOST: ReadonlySet<Code> = new Set([Code.DeadlineExceeded, Code.Unknown]);
const WORTH_A_RETRY: ReadonlySet<Code> = new Set([Code.Unavailable, Code.DeadlineExceeded]);

/** What was read, for as long as it is fresh. */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      retry: (failures, error) => failures < 2 && WORTH_A_RETRY.has(ConnectError.from(error).code),
    },
    // Of a write whose answer is lost nobody knows whether it happened.
    mutations: { retry: false },
  },
});

/** Who is signed in, and what they may do. By name: the descriptor would be loaded before anybody signs in. */
const WHO = {
  predicate: ({ queryKey }: { queryKey: readonly unknown[] }) => JSON.stringify(queryKey).includes("WhoAmI"),
};

const noticing: Interceptor = (next) => async (request) => {
  try {
    return await next(request);
  } catch (error) {
    if (ConnectError.from(error).code === Code.Unauthenticated) void sessionEnded();
    // Rights were taken away since the page was opened: it shows what is left.
    if (ConnectError.from(error).code === Code.PermissionDenied) void queries.invalidateQueries(WHO);
    if (isOutage(error)) awaitService(() => void queries.invalidateQueries());
    throw error;
  }
};

/** The API, as the person whose session the browser keeps. */
export const transport = createConnectTransport({
  baseUrl: `${BASE}/rpc`,
  interceptors: [noticing],
  defaultTimeoutMs: 15_000,
});

/** What went wrong with something that was read, as a sentence. */
export function sentenceOf(error: unknown): string {
  const { rawMessage } = ConnectError.from(error);
  const said = isOutage(error) ? "the service does not answer at the moment" : rawMessage;
  return `${said.charAt(0).toUpperCase()}${said.slice(1).replace(/\.$/, "")}.`;
}

/** What went wrong with a write, as a sentence: where its answer is lost, that is all that is known. */
export function writeSentenceOf(error: unknown): string {
  const isLost = isOutage(error) || LOST.has(ConnectError.from(error).code);
  return isLost
    ? "The service did not answer: whether it was done is not known. Reload before you try again."
    : sentenceOf(error);
}
