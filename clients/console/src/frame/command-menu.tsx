import { useRouter } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { Autocomplete, Input, Menu, MenuItem, SearchField, useFilter } from "react-aria-components";
import { Dialog } from "../ui/dialog";
import type { Entry } from "./navigation";

/** Ctrl K, or ⌘ K: every page by its name. */
export function CommandMenu({ entries }: { entries: readonly Entry[] }) {
  const [isOpen, setOpen] = useState(false);
  const router = useRouter();
  const { contains } = useFilter({ sensitivity: "base" });
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      // A form, or a key that is shown once, must not be lost under it.
      setOpen((open) => !open && document.querySelector("[role=dialog], [role=alertdialog]") === null);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  return (
    <Dialog label="Go to a page" isOpen={isOpen} onClose={() => setOpen(false)}>
      {(close) => (
        <Autocomplete filter={contains}>
          <SearchField aria-label="Go to a page" autoFocus className="react-aria-TextField">
            <Input placeholder="Go to…" className="react-aria-Input" />
          </SearchField>
          <Menu
            className="menu"
            aria-label="Pages"
            items={entries}
            renderEmptyState={() => <p className="menu-empty">No page of yours has this name.</p>}
            onAction={(to) => {
              close();
              void router.navigate({ to: String(to) as never });
            }}
          >
            {({ to, group, label }) => (
              <MenuItem id={to} className="menu-item" textValue={`${group} ${label}`}>
                <span>{label}</span> <small>{group}</small>
              </MenuItem>
            )}
          </Menu>
        </Autocomplete>
      )}
    </Dialog>
  );
}
