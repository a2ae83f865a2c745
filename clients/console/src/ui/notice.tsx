import { type LucideIcon, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { sentenceOf } from "../service/transport";
import { Button } from "./button";

/** A message with a title above or within a page. */
export function Notice({
  title,
  children,
  action,
  tone = "warn",
}: {
  title: string;
  children?: ReactNode;
  action?: ReactNode;
  tone?: "warn" | "error";
}) {
  return (
    <div className={`notice notice-${tone}`} role={tone === "error" ? "alert" : "status"}>
      <TriangleAlert size={18} aria-hidden />
      <div>
        <strong>{title}</strong>
        {children && <p>{children}</p>}
      </div>
      {action}
    </div>
  );
}

/** Something could not be read: what, why, and a way to try again. */
export function Failure({ error, what, retry }: { error: unknown; what: string; retry: () => void }) {
  return (
    <Notice tone="error" title={`${what} could not be loaded`} action={<Button onPress={retry}>Try again</Button>}>
      {sentenceOf(error)}
    </Notice>
  );
}

/** What a list shows that has no row. */
export function Empty({
  icon: Icon,
  title,
  children,
  action,
}: {
  icon: LucideIcon;
  title: string;
  children: ReactNode;
  action?: ReactNode;
}) {
  return (
    <div className="empty">
      <span className="empty-icon">
        <Icon size={24} aria-hidden />
      </span>
      <h2>{title}</h2>
      <p>{children}</p>
      {action}
    </div>
  );
}

/** The shape of what is being loaded. */
export function Skeleton({ what, className = "panel" }: { what: string; className?: string }) {
  return (
    <div className={`${className} skeleton`} role="status" aria-label={`Loading ${what}`} aria-busy>
      <i />
      <i />
      <i />
    </div>
  );
}
