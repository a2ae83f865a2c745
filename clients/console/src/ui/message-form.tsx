import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { type FormEvent, useState } from "react";
import {
  Checkbox,
  CheckboxGroup,
  FieldError,
  Form,
  Heading,
  Input,
  Label,
  Switch,
  Text,
  TextField,
} from "react-aria-components";
import { forgetDraft, keepDraft, readDraft, useForgotten } from "../drafts";
import { writeSentenceOf } from "../service/transport";
import { Button } from "./button";
import { Choice } from "./choice";
import { Notice } from "./notice";

/** The words of a field, and what the message does not say of it. */
export interface FieldWords {
  readonly label: string;
  readonly help?: string;
  readonly isRequired?: boolean;
  /** Of what it may be one, or several where the message has a list. */
  readonly choices?: readonly { readonly id: string; readonly name: string }[];
}

/** What a form has for each field, by its name in the message. */
export type FormValues = Readonly<Record<string, string | boolean | readonly string[]>>;

/**
 * A form for a request: a text, a switch, a choice or a list of choices for each
 * field that has words, as the message describes it. What is written outlives the
 * session in this tab; a field that is `debug_redact` is hidden and kept nowhere.
 */
export function MessageForm({
  schema,
  fields,
  initial = {},
  title,
  submit,
  failed,
  about = "",
  showTheirs,
  work,
  close,
}: {
  schema: DescMessage;
  fields: Readonly<Record<string, FieldWords>>;
  initial?: FormValues;
  title: string;
  submit: string;
  failed: string;
  /** The id of what is changed: two may have one name. */
  about?: string;
  /** Reads again what somebody else changed meanwhile, for forms that the service refuses then. */
  showTheirs?: () => void;
  work: { readonly isPending: boolean; readonly error: Error | null; run: (values: FormValues) => void };
  close: () => void;
}) {
  const draft = `${schema.typeName} ${title} ${about}`;
  const isConflict = showTheirs !== undefined && ConnectError.from(work.error).code === Code.Aborted;
  const [values, setValues] = useState<FormValues>(() => ({ ...initial, ...readDraft(draft) }));
  useForgotten(draft);
  const shown = Object.keys(fields).map((name) => schema.field[name] as DescField);
  function set(field: DescField, value: FormValues[string]): void {
    const next = { ...values, [field.localName]: value };
    setValues(next);
    // What is not changed may be changed by somebody else until the draft is read.
    const open = Object.entries(next).filter(
      ([name, now]) => !isSecret(schema.field[name] as DescField) && String(now) !== String(initial[name] ?? ""),
    );
    keepDraft(draft, Object.fromEntries(open));
  }
  function onSubmit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    work.run(values);
  }
  return (
    <Form onSubmit={onSubmit}>
      <Heading slot="title">{title}</Heading>
      {shown.map((field, at) => (
        <Field
          key={field.localName}
          field={field}
          words={fields[field.localName] as FieldWords}
          value={values[field.localName]}
          isFirst={at === 0}
          onChange={(value) => set(field, value)}
        />
      ))}
      {work.error && (
        <Notice
          tone="error"
          title={isConflict ? "Somebody changed this since you opened it" : failed}
          action={
            isConflict && (
              <Button
                onPress={() => {
                  forgetDraft(draft);
                  showTheirs();
                }}
              >
                Show theirs
              </Button>
            )
          }
        >
          {isConflict ? "Nothing of yours was saved." : writeSentenceOf(work.error)}
        </Notice>
      )}
      <div className="actions">
        <Button onPress={close}>Cancel</Button>
        <Button look="primary" type="submit" isPending={work.isPending}>
          {submit}
        </Button>
      </div>
    </Form>
  );
}

function isSecret({ proto }: DescField): boolean {
  return proto.options?.debugRedact === true;
}

function Field({
  field,
  words: { label, help, isRequired = false, choices },
  value,
  isFirst,
  onChange,
}: {
  field: DescField;
  words: FieldWords;
  value: FormValues[string] | undefined;
  isFirst: boolean;
  onChange: (value: FormValues[string]) => void;
}) {
  if (typeof value === "boolean" || (field.fieldKind === "scalar" && field.scalar === BOOL)) {
    return (
      <Switch className="switch" isSelected={value === true} onChange={onChange}>
        <span className="track" />
        {label}
      </Switch>
    );
  }
  if (choices !== undefined && field.fieldKind !== "scalar") {
    return (
      <CheckboxGroup value={[...((value as readonly string[]) ?? [])]} onChange={onChange} className="checks">
        <Label>{label}</Label>
        <div>
          {choices.length === 0 && <span className="faint">{help}</span>}
          {choices.map(({ id, name }) => (
            <Checkbox key={id} value={id} className="check">
              <span className="box" />
              {name}
            </Checkbox>
          ))}
        </div>
      </CheckboxGroup>
    );
  }
  if (choices !== undefined)
    return <Choice label={label} value={String(value ?? "")} items={choices} onChange={onChange} />;
  return (
    <TextField
      name={field.localName}
      isRequired={isRequired}
      autoFocus={isFirst}
      value={String(value ?? "")}
      onChange={onChange}
      type={isSecret(field) ? "password" : "text"}
    >
      <Label>{label}</Label>
      <Input autoComplete={isSecret(field) ? "new-password" : "off"} />
      {help && <Text slot="description">{help}</Text>}
      <FieldError />
    </TextField>
  );
}

/** google.protobuf.FieldDescriptorProto.Type TYPE_BOOL. */
const BOOL = 8;
