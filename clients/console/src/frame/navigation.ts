import {
  Activity,
  KeyRound,
  type LucideIcon,
  Plug,
  ScrollText,
  SlidersHorizontal,
  Unplug,
  UserRound,
  UsersRound,
} from "lucide-react";

/** A page, as the navigation and the command menu name it. */
export interface Entry {
  readonly to: string;
  readonly group: string;
  readonly label: string;
  readonly icon: LucideIcon;
  /** For administrators. */
  readonly admin?: true;
}

/** Every page. */
export const ENTRIES: readonly Entry[] = [
  { to: "/profile/endpoint", group: "My Profile", label: "MCP Endpoint", icon: Plug },
  { to: "/profile/keys", group: "My Profile", label: "API Keys", icon: KeyRound },
  { to: "/profile/connections", group: "My Profile", label: "Connections", icon: Unplug },
  { to: "/agents/runs", group: "Agents", label: "Runs", icon: Activity },
  { to: "/settings/endpoint", group: "Settings", label: "MCP Endpoint", icon: SlidersHorizontal, admin: true },
  { to: "/settings/people", group: "Settings", label: "People", icon: UserRound, admin: true },
  { to: "/settings/groups", group: "Settings", label: "Groups", icon: UsersRound, admin: true },
  { to: "/settings/audit", group: "Settings", label: "Audit", icon: ScrollText, admin: true },
];

const MINE = ENTRIES.filter(({ admin }) => admin === undefined);

/** The page at an address, or that what is there belongs to; undefined for none. */
export function entryAt(path: string): Entry | undefined {
  const address = path.replace(/\/+$/, "");
  return (
    ENTRIES.find(({ to }) => to === address) ??
    ENTRIES.find(({ to }) => /^\/agents\//.test(to) && address.startsWith(`${to}/`))
  );
}

/** The pages that somebody may see. */
export function entriesFor(isAdmin: boolean): readonly Entry[] {
  return isAdmin ? ENTRIES : MINE;
}
