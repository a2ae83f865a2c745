import { type Step, shown } from "./shell.js";

/** The page with the session. */
export const DIRECTORY = "docs/directory.md";

const READER = "reader@sallyport.example";
const keeps = (name: string) => ({ [name]: /^id +(\S+)/m, [`${name}_KEY`]: /(slp_\S+)/ });

const STEPS: readonly Step[] = [
  'cli platforms list --json | grep -o \'"title":"[^"]*"\'',
  "head -c 18 /dev/urandom | base64 > /srv/sallyport/first-password",
  `cli users create --email ${READER} --name "Directory reviewer" --password-file /srv/sallyport/first-password`,
  {
    run: `cli keys create --user ${READER} --name "MCP Inspector" --scopes cti:read --expires 30d`,
    keeps: keeps("INSPECTOR"),
  },
  "cli tools call cti whoami '{}' --key {INSPECTOR_KEY} --json | grep -o '\"capabilities\":[^]]*]'",
  'cli tools call cti count_entities \'{"types":["Malware"]}\' --key {INSPECTOR_KEY}',
  "cli tools call cti create_note '{}' --key {INSPECTOR_KEY}",
  "cli tools call grc whoami '{}' --key {INSPECTOR_KEY}",
  "cli packages server-json --server cti",
  `cli users disable ${READER}`,
  "cli tools call cti whoami '{}' --key {INSPECTOR_KEY}",
];

const SESSION = /(<!-- session -->\n```console\n)[\s\S]*?(\n```\n)/;

/** The page with its session as a shell shows it now, at a service that it starts. */
export async function directoryPage(page: string): Promise<string> {
  if (!SESSION.test(page)) throw new Error("the page has no session");
  const session = await shown(STEPS);
  return page.replace(SESSION, (_, before: string, after: string) => before + session + after);
}
