/** The tokens of an agent in its inspector: the active ones first. */
import { Ban, KeyRound } from 'lucide-react'
import { useState } from 'react'
import { IconMenu, type MenuChoice } from '../../../parts/overlays/menu.tsx'
import { Banner } from '../../../parts/page/banner.tsx'
import { Facts } from '../../../parts/page/facts.tsx'
import { Proof } from '../../../parts/page/proof.tsx'
import { Ago } from '../../../parts/show/ago.tsx'
import { dateOf } from '../../../parts/show/moments.ts'
import { texts } from '../../../texts/index.ts'
import { StateLabel } from '../columns.tsx'
import { limitRows } from '../limits.ts'
import type { AgentToken } from '../place.ts'
import { RevokeQuestion } from '../revoke.tsx'
import { type AgentRow, isLive, stateOf } from '../rows.ts'
import { keyRow, MissingKeys } from './keys.tsx'

const words = texts.agents

export function Tokens({ row }: { row: AgentRow }) {
  const { tokens } = row
  if (tokens.length === 0) return <p className="text-ink-2">{words.noTokens}</p>
  const active = tokens.filter(({ status }) => status === 'active')
  const ended = tokens.filter(({ status }) => status !== 'active')
  return (
    <ul className="flex flex-col gap-3">
      {[...active, ...ended].map((token) => (
        <TokenItem key={token.id} token={token} row={row} />
      ))}
    </ul>
  )
}

type ItemProps = { token: AgentToken; row: AgentRow }

function TokenItem({ token, row }: ItemProps) {
  const { label, fault, differs } = token
  const isActive = token.status === 'active'
  return (
    <li data-token className="flex flex-col gap-2 rounded-control border border-line px-3 py-2">
      <div className="flex items-center gap-2">
        <span className="min-w-0 flex-1 truncate font-medium" title={label}>
          {label}
        </span>
        <StateLabel state={stateOf(token)} />
        {isActive ? <TokenMenu token={token} row={row} /> : null}
      </div>
      {fault ? <Banner kind="danger">{words.doesNotHold(fault)}</Banner> : null}
      {differs ? <Banner kind="warning">{words.differs}</Banner> : null}
      {isLive(token) ? <Terms token={token} row={row} /> : null}
      <Proof>
        <Facts rows={proofOf(token)} />
      </Proof>
    </li>
  )
}

/** The inspector shows the terms of an only token as those of its agent. */
function Terms({ token, row }: ItemProps) {
  const own = row.tokens.length > 1 ? termsOf(token, row) : []
  const rows = [...own, ...limitRows(token), ...keyRow(token)]
  return rows.length === 0 ? null : <Facts rows={rows} />
}

function termsOf(
  { capabilities, environment, expiresAt, ...token }: AgentToken,
  { project }: AgentRow,
) {
  const place = token.project === undefined ? project : token.project
  const used = token.lastUsedAt
  return [
    [words.columns.scope, words.inPlace(place, environment)] as const,
    [words.columns.can, words.can(capabilities)] as const,
    [words.expires, expiresAt ? <Ago key="ends" at={expiresAt} /> : words.never] as const,
    [words.columns.lastUsed, used ? <Ago key="used" at={used} /> : words.never] as const,
  ]
}

function proofOf({ id, createdAt, by }: AgentToken) {
  return [
    [words.tokenId, id] as const,
    [words.created, dateOf(createdAt)] as const,
    ...(by ? [[words.signedBy, by] as const] : []),
  ]
}

/** A token of all environments lacks the keys of those that were created after it. */
function mayLackKeys(token: AgentToken): boolean {
  const { keys, environment } = token
  return isLive(token) && (environment === null || !keys.some(({ isCurrent }) => isCurrent))
}

function TokenMenu({ token, row }: ItemProps) {
  const [opened, setOpened] = useState<'revoke' | 'keys' | null>(null)
  const { id, label } = token
  const { owner, kind, name, project } = row
  const close = () => setOpened(null)
  const give: MenuChoice = {
    ...{ id: 'keys', label: words.giveKeys, icon: KeyRound },
    act: () => setOpened('keys'),
  }
  const revoke: MenuChoice = {
    ...{ id: 'revoke', label: words.revokeChoice, icon: Ban, isDanger: true },
    act: () => setOpened('revoke'),
  }
  const holder = kind === 'agent' ? name : (project ?? words.whole)
  return (
    <>
      <IconMenu
        size="small"
        label={words.moreOf(label)}
        choices={mayLackKeys(token) ? [give, revoke] : [revoke]}
      />
      {opened === 'keys' ? <MissingKeys token={token} owner={owner} onClose={close} /> : null}
      {opened === 'revoke' ? (
        <RevokeQuestion owner={owner} tokenId={id} name={holder} label={label} onClose={close} />
      ) : null}
    </>
  )
}
