import { ChevronDown } from "lucide-react";
import { Button, Label, ListBox, ListBoxItem, Popover, Select, SelectValue } from "react-aria-components";

/** One of a few. */
export function Choice({
  label,
  value,
  items,
  onChange,
}: {
  label: string;
  value: string;
  items: readonly { readonly id: string; readonly name: string }[];
  onChange: (id: string) => void;
}) {
  return (
    <Select value={value} onChange={(key) => onChange(String(key))} className="select">
      <Label>{label}</Label>
      <Button className="select-button">
        <SelectValue />
        <ChevronDown size={16} aria-hidden />
      </Button>
      <Popover className="popover">
        <ListBox items={items} className="menu">
          {(item) => (
            <ListBoxItem className="menu-item" textValue={item.name}>
              {item.name}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </Select>
  );
}
