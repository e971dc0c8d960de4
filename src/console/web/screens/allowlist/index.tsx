/** The hosts that agents may reach, with who signed each, and what would break without it. */
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { useManages } from '../../frame/manages.ts'
import type { Returned } from '../../keys/messages.ts'
import { Button } from '../../parts/button.tsx'
import { TextField } from '../../parts/fields/text_field.tsx'
import { FieldForm } from '../../parts/form.tsx'
import { dateOf } from '../../parts/moments.ts'
import { ConfirmButton } from '../../parts/overlays/confirm.tsx'
import { say } from '../../parts/overlays/toasts.tsx'
import { Banner } from '../../parts/states/banner.tsx'
import { EmptyState } from '../../parts/states/empty_state.tsx'
import { FailureNote } from '../../parts/states/failure.tsx'
import { Loading } from '../../parts/states/loading.tsx'
import { queryKey, useAsk, useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'

const route = getRouteApi('/w/$workspaceId/allowlist')
const words = texts.allowlist

type Listed = Returned<'allowlist.list'>
type Entry = Listed['entries'][number]

export function Allowlist() {
  const { workspaceId } = route.useParams()
  const manages = useManages(workspaceId) ?? false
  const { data, error } = useAsk('allowlist.list', { workspaceId })
  return (
    <section className="stack">
      <h1>{words.title}</h1>
      {error ? <FailureNote error={error} /> : null}
      {data ? <Hosts workspaceId={workspaceId} manages={manages} listed={data} /> : null}
      {data || error ? null : <Loading />}
    </section>
  )
}

type HostsProps = { workspaceId: string; manages: boolean; listed: Listed }

function Hosts({ workspaceId, manages, listed }: HostsProps) {
  const entries = [...listed.entries].sort((one, other) => one.domain.localeCompare(other.domain))
  return (
    <>
      <p className="soft">
        {words.intro} {listed.isSigned ? words.signed : words.plain}
      </p>
      {manages ? <Add workspaceId={workspaceId} /> : <Banner>{words.onlyAdmins}</Banner>}
      {entries.length === 0 ? <EmptyState title={words.none} command={words.noneCommand} /> : null}
      <ul className="entries" aria-label={words.list}>
        {entries.map((entry) => (
          <Row key={entry.domain} workspaceId={workspaceId} entry={entry} manages={manages} />
        ))}
      </ul>
      <Misstated listed={listed} />
    </>
  )
}

/** What the server says otherwise than the links: it is shown, and counts for nothing. */
function Misstated({ listed: { unsigned, leftOut } }: { listed: Listed }) {
  const lists = [
    [words.unsigned, unsigned],
    [words.leftOut, leftOut],
  ] as const
  return lists.map(([said, domains]) =>
    domains.length === 0 ? null : (
      <Banner key={said} kind="warning">
        <p>{said}</p>
        <ul>
          {domains.map((domain) => (
            <li key={domain}>
              <code>{domain}</code>
            </li>
          ))}
        </ul>
      </Banner>
    ),
  )
}

function Add({ workspaceId }: { workspaceId: string }) {
  const [domain, setDomain] = useState('')
  const add = useCommand('allowlist.add', {
    changes: ['allowlist.list'],
    optimistic: () => ({
      key: queryKey('allowlist.list', { workspaceId }),
      update: (before: Listed): Listed => withEntry(before, domain.trim()),
    }),
  })
  const submit = () => {
    add.mutate(
      { workspaceId, domain: domain.trim() },
      {
        onSuccess: ({ isNew }) => {
          setDomain('')
          say(isNew ? words.added(domain) : words.present(domain))
        },
      },
    )
  }
  return (
    <FieldForm className="stack" onSubmit={submit}>
      <div className="row">
        <TextField
          label={words.domain}
          help={words.domainHelp}
          isRequired
          mono
          value={domain}
          onChange={setDomain}
          error={add.error?.fields[0]?.message}
        />
        <Button kind="primary" type="submit" isPending={add.isPending}>
          {words.add}
        </Button>
      </div>
      {add.error ? <FailureNote error={add.error} /> : null}
    </FieldForm>
  )
}

/** As it will be, while it is being signed. */
function withEntry(before: Listed, domain: string): Listed {
  if (before.entries.some((entry) => entry.domain === domain)) return before
  const at = new Date().toISOString()
  return { ...before, entries: [...before.entries, { domain, by: null, at, seq: null }] }
}

function Row({
  workspaceId,
  entry,
  manages,
}: {
  workspaceId: string
  entry: Entry
  manages: boolean
}) {
  const { domain, by, at, seq } = entry
  const remove = useCommand('allowlist.remove', {
    changes: ['allowlist.list'],
  })
  return (
    <li className="entry card-head">
      <code>{domain}</code>
      <span className="soft small">
        {words.by(by ?? words.somebody, dateOf(at))}
        {seq === null ? '' : ` · ${words.link(seq)}`}
      </span>
      <span className="space" />
      {manages ? (
        <ConfirmButton
          verb={words.remove}
          title={words.removeNamed(domain)}
          onConfirm={async () => {
            await remove.mutateAsync({ workspaceId, domain })
            say(words.removed(domain))
          }}
        >
          <Use workspaceId={workspaceId} domain={domain} />
        </ConfirmButton>
      ) : null}
    </li>
  )
}

/** What called it lately: that is what would be refused. */
function Use({ workspaceId, domain }: { workspaceId: string; domain: string }) {
  const { data, error } = useAsk('allowlist.calls', { workspaceId, domain })
  if (error) return <FailureNote error={error} />
  if (!data) return <p role="status">{words.looking}</p>
  if (data.calls === 0) return <p>{data.isWhole ? words.unused : words.unknownUse}</p>
  const namesOf = (listed: readonly { name: string }[]) => listed.map(({ name }) => name).join(', ')
  const who = [
    data.agents.length > 0 ? words.agents(namesOf(data.agents)) : '',
    data.secrets.length > 0 ? words.secrets(namesOf(data.secrets)) : '',
  ]
  return (
    <p>
      {words.used(data.calls, data.isWhole)} {who.filter(Boolean).join(' ')}. {words.breaks}
    </p>
  )
}
