import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Navigate } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { Away, NewPassword, SignIn } from "./pages/sign-in";
import { session } from "./service/session";
import { CONSOLE } from "./service/settings";

// Signing in needs plain HTML alone: the library of controls comes after it.
const Shell = lazy(() => import("./frame/shell"));

function Root() {
  const { state } = session.use();
  if (state === "unknown") return null;
  if (state === "away")
    return <Away title="The service does not answer">The console tries again every two seconds.</Away>;
  if (state === "none") return <SignIn />;
  if (state === "must_change_password") return <NewPassword />;
  return (
    <Suspense fallback={null}>
      <Shell />
    </Suspense>
  );
}

function Broken() {
  return (
    <Away title="This page could not be shown">
      Load it again. If this message returns, tell your administrator: files of the console may be missing.
    </Away>
  );
}

const root = createRootRoute({ component: Root, errorComponent: Broken });
const under = { getParentRoute: () => root } as const;
const page = <P extends string>(path: P, load: () => Promise<{ Page: () => React.ReactNode }>) =>
  createRoute({ ...under, path, component: lazyRouteComponent(load, "Page") });

/** The pages by their addresses. */
export const router = createRouter({
  basepath: CONSOLE,
  defaultPreload: "intent",
  defaultErrorComponent: Broken,
  routeTree: root.addChildren([
    createRoute({ ...under, path: "/", component: () => <Navigate to={"/profile/endpoint" as never} /> }),
    page("/profile/keys", () => import("./pages/keys")),
    page("/profile/endpoint", () => import("./pages/endpoint")),
    page("/profile/connections", () => import("./pages/connections")),
    page("/agents/runs", () => import("./pages/runs")),
    page("/agents/runs/$runId", () => import("./pages/runs/run")),
    page("/settings/endpoint", () => import("./pages/settings-endpoint")),
    page("/settings/people", () => import("./pages/people")),
    page("/settings/groups", () => import("./pages/groups")),
    page("/settings/audit", () => import("./pages/audit")),
    createRoute({ ...under, path: "$", component: lazyRouteComponent(() => import("./frame/shell"), "Nowhere") }),
  ]),
});
