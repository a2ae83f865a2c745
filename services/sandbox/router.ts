import findMyWay, { type HTTPMethod } from "find-my-way";

/** The methods that the platforms' APIs know. */
export type Method = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";

/** One route of an API; `Answer` is whatever the platform answers it with. */
export interface Route<Answer> {
  readonly method: Method;
  /** As the API's own tables write it, such as /scenarios/{id}. */
  readonly path: string;
  readonly answer: Answer;
}

/** A route that was found, and what stood in the braces of its path, in their order. */
export interface Match<Answer> {
  readonly answer: Answer;
  readonly ids: readonly string[];
}

/** Why no route was found: none has the path, or none of those that have it has the method. */
export type Miss = "no path" | "no method";

const METHODS: readonly Method[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const MAX_ID_LENGTH = 2_048;

/**
 * Makes a router over find-my-way; of two routes that match, the one with fewer
 * braces is taken.
 *
 * @throws Error for two routes of one method and path.
 */
export function createRouter<Answer>(
  routes: readonly Route<Answer>[],
): (method: string, path: string) => Match<Answer> | Miss {
  const router = findMyWay({ maxParamLength: MAX_ID_LENGTH });
  for (const { method, path, answer } of routes) {
    router.on(method, path.replace(/\{(\w+)\}/g, ":$1"), () => {}, answer);
  }
  return (method, path) => {
    const found = isMethod(method) ? router.find(method, path) : null;
    if (found !== null) return { answer: found.store as Answer, ids: Object.values(found.params) as string[] };
    return METHODS.some((other) => router.find(other, path) !== null) ? "no method" : "no path";
  };
}

const isMethod = (method: string): method is HTTPMethod & Method => (METHODS as readonly string[]).includes(method);
