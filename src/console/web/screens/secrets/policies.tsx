/** The policy of a secret, or of several, with what it would have blocked lately. */
import { useMemo, useState } from 'react'
import { judgeCalls } from '../../../../client/secrets/judged_calls.ts'
import { policyInWords } from '../../../../client/secrets/policy_in_words.ts'
import { callMethods, type Policy, policyLocations } from '../../../../core/policy/policy.ts'
import { Button } from '../../parts/button.tsx'
import { Checkbox, Choices } from '../../parts/fields/checkbox.tsx'
import { TextArea } from '../../parts/fields/text_area.tsx'
import { TextField } from '../../parts/fields/text_field.tsx'
import { say } from '../../parts/overlays/toasts.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { Loading } from '../../parts/page/loading.tsx'
import { useAsk, useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { ApprovalFields } from './approval.tsx'
import {
  type Approval,
  type Checked,
  canNeedApproval,
  checked,
  type Draft,
  draftOf,
  type Field,
  listFields,
} from './draft.ts'
import { type Cell, CHANGED, type PaneProps, type Project, useGo, useMayHere } from './place.ts'

const words = texts.policies

type Place = Project & { environment: string }

export function PolicyOf({ place, name, cell }: { place: Place; name: string; cell: Cell }) {
  const writes = useMayHere('secret.write')
  if (!writes) return <p>{words.inWords(cell.words)}</p>
  return (
    <PolicyForm
      key={cell.version}
      place={place}
      before={cell.policy}
      versions={{ [name]: cell.version }}
      name={name}
    />
  )
}

export function Policies({
  place,
  matrix,
  keys,
  environment,
}: PaneProps & { environment: string }) {
  const go = useGo()
  const there = matrix.rows.flatMap(({ key, cells }) => {
    const cell = cells[environment]
    return cell && keys.includes(key) ? [{ key, cell }] : []
  })
  const versions = Object.fromEntries(there.map(({ key, cell }) => [key, cell.version]))
  return (
    <>
      <p className="soft">{words.bulkHelp}</p>
      <PolicyForm
        place={{ ...place, environment }}
        before={there[0]?.cell.policy ?? null}
        versions={versions}
        onDone={() => go({ pane: undefined })}
      />
    </>
  )
}

type FormProps = {
  place: Place
  before: Policy | null
  versions: Record<string, number>
  /** Of a single secret, whose calls are looked at, and whose description is edited. */
  name?: string
  onDone?(): void
}

function PolicyForm({ place, before, versions, name, onDone }: FormProps) {
  const [draft, setDraft] = useState<Draft>(() => draftOf(before))
  const [description, setDescription] = useState(before?.description ?? '')
  const [approval, setApproval] = useState(name === undefined ? null : (before?.approval ?? null))
  const canBeHeld = useCanBeHeld(place, before) && name !== undefined
  const store = useCommand('policies.set', { changes: CHANGED })
  const result = useMemo(() => checked(draft), [draft])
  const isFit = canNeedApproval(result.policy, approval)
  const act = () => {
    if (result.policy === null) return
    const order = { ...place, narrowing: result.policy, versions }
    const count = Object.keys(versions).length
    const chosen = canBeHeld ? { approval } : {}
    store.mutate(name === undefined ? order : { ...order, ...chosen, description }, {
      onSuccess: () => {
        say(words.saved(count))
        onDone?.()
      },
    })
  }
  return (
    <div className="stack">
      <InWords policy={result.policy} approval={approval} />
      <Fields draft={draft} problems={result.problems} onChange={setDraft} />
      {name === undefined ? null : (
        <TextField
          label={words.description}
          help={words.descriptionHelp}
          value={description}
          onChange={setDescription}
        />
      )}
      {canBeHeld ? <ApprovalFields value={approval} isFit={isFit} onChange={setApproval} /> : null}
      {name !== undefined && result.policy ? (
        <Preview place={{ ...place, key: name }} policy={result.policy} />
      ) : null}
      {store.error ? <FailureNote error={store.error} /> : null}
      <div>
        <Button
          kind="primary"
          isDisabled={result.policy === null || !isFit}
          isPending={store.isPending}
          onPress={act}
        >
          {words.save}
        </Button>
      </div>
    </div>
  )
}

type WordsProps = { policy: Policy | null; approval: Approval | null }

function InWords({ policy, approval }: WordsProps) {
  if (policy === null) return null
  const whole = approval === null ? policy : { ...policy, approval }
  return <p role="status">{words.inWords(policyInWords(whole))}</p>
}

/** Only signed workspaces have approvals, and settings, references and roots cannot need one. */
function useCanBeHeld({ workspaceId }: Place, policy: Policy | null): boolean {
  const { data } = useAsk('workspaces.list', null)
  const isSigned = data?.find(({ id }) => id === workspaceId)?.isSigned ?? false
  const { kind, references, sensitive } = policy ?? {}
  return isSigned && [kind, references, sensitive].every((field) => field === undefined)
}

type FieldsProps = { draft: Draft; problems: Checked['problems']; onChange(draft: Draft): void }

function Fields({ draft, problems, onChange }: FieldsProps) {
  const options = {
    allowed_methods: callMethods.map((id) => ({ id, label: id })),
    allowed_locations: policyLocations.map((id) => ({ id, label: words.places[id] })),
  }
  const shown: readonly Field[] = [
    'allowed_domains',
    'allowed_methods',
    'allowed_paths',
    'allowed_locations',
    'allowed_headers',
    'sign_templates',
    'allowed_operations',
  ]
  return shown.map((field) => {
    const lines = draft[field]
    const put = (next: string[] | null) => onChange({ ...draft, [field]: next })
    const problem = problems?.[field]
    const listField = listFields.find((name) => name === field)
    return (
      <div key={field} className="field">
        <Checkbox isSelected={lines !== null} onChange={(isOn) => put(isOn ? [] : null)}>
          {words.limit[field]}
        </Checkbox>
        {lines !== null && (field === 'allowed_methods' || field === 'allowed_locations') ? (
          <Choices
            label={words.entries[field]}
            options={options[field]}
            value={lines}
            onChange={put}
          />
        ) : null}
        {lines !== null && listField ? (
          <TextArea
            label={words.entries[listField]}
            help={words.help[listField]}
            rows={2}
            value={lines.join('\n')}
            onChange={(text) => put(text.split('\n'))}
            error={problem ? words.bad(problem.entry, problem.why) : undefined}
          />
        ) : null}
        {lines?.every((line) => line.trim() === '') ? (
          <p className="help">{words.nothing}</p>
        ) : null}
      </div>
    )
  })
}

type PreviewProps = { place: Place & { key: string }; policy: Policy }

function Preview({ place, policy }: PreviewProps) {
  const { data, error } = useAsk('policies.calls', place)
  const judged = useMemo(() => (data ? judgeCalls(policy, data) : null), [policy, data])
  if (error) return <FailureNote error={error} />
  if (!judged) return <Loading />
  const { calls, refused, kinds, isWhole } = judged
  return (
    <section className="note" aria-label={words.preview}>
      <h3>{words.preview}</h3>
      {calls === 0 ? <p>{words.noCalls}</p> : null}
      {calls > 0 ? (
        <p role="status">
          {refused === 0 ? words.allPass(calls) : words.wouldBlock(refused, calls)}
        </p>
      ) : null}
      <ul className="plain-list">
        {kinds.map(({ method, target_url, style, count: times, text }) => (
          <li key={`${method} ${target_url} ${style}`}>
            <code>{words.kind(times, method, target_url)}</code>
            <p className="soft small">{words.objection(text)}</p>
          </li>
        ))}
      </ul>
      {isWhole ? null : <p className="soft small">{words.notWhole}</p>}
      {calls > 0 ? <p className="soft small">{words.notJudged}</p> : null}
    </section>
  )
}
