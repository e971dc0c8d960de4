/** The lists of a policy as words of its sentence. Each opens a field that changes it. */
import { useState } from 'react'
import { callMethods, type Policy } from '../../../../../../core/policy/policy.ts'
import { Checkbox, Choices } from '../../../../parts/fields/checkbox.tsx'
import { TextArea } from '../../../../parts/fields/text_area.tsx'
import { TokenField } from '../../../../parts/fields/token_field.tsx'
import { WordPanel } from '../../../../parts/overlays/sentence_word.tsx'
import { texts } from '../../../../texts/index.ts'
import { hostIn } from '../../../allowlist/host_text.ts'
import { type List, listText, problemInFields } from './fields.ts'

const words = texts.policies

export type PartProps = { policy: Policy; onChange(policy: Policy): void }

type AnyProps<Field extends List> = PartProps & { field: Field }

function useList<Field extends List>({ policy, field, onChange }: AnyProps<Field>) {
  const list = policy[field]
  const put = (next: readonly string[] | undefined) => {
    const { [field]: _, ...rest } = policy
    onChange(next === undefined ? rest : { ...rest, [field]: next })
  }
  const menu = {
    label: words.names[field],
    text: listText(policy, field),
    tone: list?.length === 0 ? ('amber' as const) : undefined,
  }
  return { list, put, menu }
}

type Typed = keyof typeof words.wrong

/** Hosts, paths, headers and operations. */
export function TypedToken(props: AnyProps<Typed> & { suggestions?: readonly string[] }) {
  const { field, suggestions = [] } = props
  const { list, put, menu } = useList(props)
  const values = list ?? []
  return (
    <WordPanel {...menu}>
      <Any field={field} isAny={list === undefined} put={put} />
      <TokenField
        label={words.names[field]}
        placeholder={list === undefined ? words.any[field] : words.none[field]}
        values={values}
        suggestions={suggestions}
        normalize={(text) => normalizeText(field, text)}
        validate={(value) => problemInFields(field, [...values, value])}
        // Backspace in the empty field of an absent list must not forbid everything.
        onChange={(next) => (values.length === 0 && next.length === 0 ? undefined : put(next))}
      />
      <p className="text-small text-ink-2">{words.help[field]}</p>
    </WordPanel>
  )
}

function normalizeText(field: Typed, text: string): string {
  if (field === 'allowed_domains') return hostIn(text)
  if (field !== 'allowed_paths') return text
  const path = (URL.parse(text)?.pathname ?? text).replace(/[?#].*$/, '').replace(/\*$/, '')
  return path.startsWith('/') ? path : `/${path}`
}

type AnyOf = {
  field: keyof typeof words.any
  isAny: boolean
  put(list: undefined | string[]): void
}

function Any({ field, isAny, put }: AnyOf) {
  const text = words.any[field]
  return (
    <Checkbox isSelected={isAny} onChange={(is) => put(is ? undefined : [])}>
      {text.charAt(0).toUpperCase() + text.slice(1)}
    </Checkbox>
  )
}

export function MethodsToken(props: PartProps) {
  const { list, put, menu } = useList({ ...props, field: 'allowed_methods' })
  return (
    <WordPanel {...menu}>
      <Any field="allowed_methods" isAny={list === undefined} put={put} />
      <Choices
        label={words.names.allowed_methods}
        options={callMethods.map((id) => ({ id, label: id }))}
        value={list ?? []}
        onChange={(chosen) => put(callMethods.filter((method) => chosen.includes(method)))}
      />
    </WordPanel>
  )
}

/** Templates have commas and spaces, so they are lines of text. */
export function TemplatesToken(props: PartProps) {
  const { list, put, menu } = useList({ ...props, field: 'sign_templates' })
  const [text, setText] = useState(list?.join('\n') ?? '')
  const lines = (typed: string) => typed.split('\n').filter((line) => line !== '')
  return (
    <WordPanel {...menu}>
      <Any
        field="sign_templates"
        isAny={list === undefined}
        put={(next) => {
          setText('')
          put(next)
        }}
      />
      <TextArea
        label={words.names.sign_templates}
        help={words.help.sign_templates}
        value={text}
        onChange={(typed) => {
          setText(typed)
          put(lines(typed))
        }}
      />
    </WordPanel>
  )
}
