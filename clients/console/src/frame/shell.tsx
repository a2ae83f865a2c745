import { Link, Outlet, useLocation } from "@tanstack/react-router";
import { Moon, Sun, UserRound } from "lucide-react";
import { useEffect, useState } from "react";
import { Button as AriaButton, Heading, Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";
import gate from "../gate.svg";
import { SignInForm } from "../pages/sign-in";
import { useCaller } from "../service/caller";
import { reach } from "../service/reach";
import { session, signOut } from "../service/session";
import { SERVICE_NAME } from "../service/settings";
import { queries } from "../service/transport";
import { filesArrived } from "../stale";
import { setTheme, theme } from "../theme";
import { Button } from "../ui/button";
import { Dialog } from "../ui/dialog";
import { Notice } from "../ui/notice";
import { Toasts, tell } from "../ui/toasts";
import { CommandMenu } from "./command-menu";
import { ForAdministrators } from "./for-administrators";
import { type Entry, entriesFor, entryAt } from "./navigation";
import { useReturningFocus } from "./returning-focus";

function ThemeButton() {
  const [now, setNow] = useState(theme());
  const next = now === "dark" ? "light" : "dark";
  return (
    <Button
      look="quiet"
      className="icon"
      aria-label={`Use the ${next} theme`}
      onPress={() => {
        setTheme(next);
        setNow(next);
      }}
    >
      {now === "dark" ? <Sun size={17} aria-hidden /> : <Moon size={17} aria-hidden />}
    </Button>
  );
}

function sayNotSignedOut(): void {
  tell("You are not signed out", "The service does not answer: try again.");
}

function UserMenu() {
  const caller = useCaller();
  const { email } = session.use();
  return (
    <MenuTrigger>
      <AriaButton className="user">
        <UserRound size={16} aria-hidden />
        <span>{caller?.name || email}</span>
        {caller?.admin && <span className="tag">Admin</span>}
      </AriaButton>
      <Popover className="popover" placement="bottom end">
        <Menu className="menu" aria-label="You">
          <MenuItem className="menu-item" onAction={() => void signOut().catch(sayNotSignedOut)} textValue="Sign out">
            <span>Sign out</span> <small>{email}</small>
          </MenuItem>
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}

function Navigation({ entries }: { entries: readonly Entry[] }) {
  const { pathname } = useLocation();
  // On a narrow screen the pages are in one line, which scrolls.
  useEffect(() => {
    if (entries.some(({ to }) => to === pathname))
      document.querySelector('nav [aria-current="page"]')?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [pathname, entries]);
  const groups = [...new Set(entries.map(({ group }) => group))];
  return (
    <nav aria-label="Main">
      {groups.map((group) => (
        <section key={group} aria-label={group}>
          <h2>{group}</h2>
          {entries
            .filter((entry) => entry.group === group)
            .map(({ to, label, icon: Icon }) => (
              <Link key={to} to={to as never} className="nav">
                <Icon size={16} aria-hidden />
                {label}
              </Link>
            ))}
        </section>
      ))}
    </nav>
  );
}

/** The session ended while somebody worked: what is on the page stays as it is. */
function SignInAgain() {
  const { ended, email } = session.use();
  // What could not be read without a session is read now.
  useEffect(() => {
    if (!ended) void queries.invalidateQueries();
  }, [ended]);
  return (
    <Dialog isOpen={ended} isHeld onClose={() => undefined}>
      {() => (
        <>
          <Heading slot="title">Your session has ended</Heading>
          <p>Sign in again: what you have written is still here.</p>
          <SignInForm email={email} />
        </>
      )}
    </Dialog>
  );
}

function Shell() {
  const { pathname } = useLocation();
  const entries = entriesFor(useCaller()?.admin === true);
  const here = entryAt(pathname);
  useReturningFocus();
  useEffect(() => {
    filesArrived();
    document.title = here === undefined ? SERVICE_NAME : `${here.label} · ${SERVICE_NAME}`;
  }, [here]);
  return (
    <>
      <div className="shell">
        <a className="skip" href="#content">
          Skip to content
        </a>
        <aside className="side">
          <Link to={"/profile/endpoint" as never} className="brand">
            <img src={gate} alt="" width={26} height={26} />
            {SERVICE_NAME}
          </Link>
          <Navigation entries={entries} />
        </aside>
        <header className="top">
          <span className="crumbs">
            {here?.group} {here && <span aria-hidden>/</span>} <b>{here?.label}</b>
          </span>
          <ThemeButton />
          <UserMenu />
        </header>
        <main id="content" tabIndex={-1}>
          {reach.use() === "down" && (
            <Notice title="The service does not answer">
              The console tries again every two seconds and goes on when it does. Nothing that you have written is lost.
            </Notice>
          )}
          {here?.admin ? <ForAdministrators page={here} /> : <Outlet />}
        </main>
      </div>
      <CommandMenu entries={entries} />
      <SignInAgain />
      <Toasts />
    </>
  );
}

// biome-ignore lint/style/noDefaultExport: React loads a component later by its default export.
export default Shell;

/** What an address shows that is no page. */
export function Nowhere() {
  return (
    <>
      <h1>There is nothing at this address</h1>
      <p>Check the address, or choose a page on the left.</p>
    </>
  );
}
