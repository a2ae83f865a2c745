/** Where the console is served from, with a slash at the end. */
export const CONSOLE = document.querySelector<HTMLMetaElement>('meta[name="console"]')?.content ?? "/console/";

/** The name that the operator gave the service. */
export const SERVICE_NAME =
  document.querySelector<HTMLMetaElement>('meta[name="application-name"]')?.content || "Sallyport";

/** The path of the service itself, without a slash at the end. */
export const BASE = CONSOLE.replace(/\/console\/$/, "");

/** What the service says of itself before anybody signs in. */
export interface ServiceSettings {
  readonly base_url: string;
  readonly service_name: string;
  /** The environment variable that configurations of clients read the API key from. */
  readonly api_key_variable: string;
  /** The URL of each MCP endpoint: behind a proxy it is none that a browser could guess. */
  readonly endpoints: Readonly<Record<string, string>>;
}

/** Reads them. @throws Error if the service does not answer. */
export async function readSettings(): Promise<ServiceSettings> {
  const answer = await fetch(`${CONSOLE}config.json`);
  if (!answer.ok) throw new Error("the service does not answer at the moment");
  return (await answer.json()) as ServiceSettings;
}

/** The query that keeps them: they are the same for as long as the page is open. */
export const SETTINGS = { queryKey: ["settings"], queryFn: readSettings, staleTime: Number.POSITIVE_INFINITY };
