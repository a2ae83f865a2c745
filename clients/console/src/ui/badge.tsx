import {
  CircleCheck,
  CircleDashed,
  CircleDot,
  CircleQuestionMark,
  CircleSlash,
  Clock,
  type LucideIcon,
  TriangleAlert,
} from "lucide-react";

/** What a badge says, in a word and a shape. */
export type Status = "connected" | "registered" | "absent" | "off" | "revoked" | "asking" | "failed" | "late";

const STATUS: Readonly<Record<Status, readonly [LucideIcon, string]>> = {
  connected: [CircleCheck, "Connected"],
  registered: [CircleDot, "Registered"],
  absent: [CircleDashed, "Not connected"],
  off: [CircleSlash, "Switched off"],
  revoked: [CircleSlash, "Revoked"],
  asking: [CircleQuestionMark, "Waits for you"],
  failed: [TriangleAlert, "Failed"],
  late: [Clock, "Timed out"],
};

/** A status is a word and a shape; colour only repeats it. */
export function StatusBadge({ status, word }: { status: Status; word?: string | undefined }) {
  const [Icon, name] = STATUS[status];
  return (
    <span className={`badge badge-${status}`}>
      <Icon size={14} strokeWidth={2.25} aria-hidden />
      {word ?? name}
    </span>
  );
}
