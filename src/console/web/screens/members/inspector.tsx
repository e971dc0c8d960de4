/** One member: role, fingerprint, signed changes, and removal. */
import { Link } from '@tanstack/react-router'
import type { Role } from '../../../../core/grant.ts'
import { Button } from '../../parts/button.tsx'
import { Menu } from '../../parts/overlays/menu.tsx'
import { say } from '../../parts/overlays/toasts.tsx'
import { Facts } from '../../parts/page/facts.tsx'
import { Inspector } from '../../parts/page/inspector.tsx'
import { Proof } from '../../parts/page/proof.tsx'
import { InspectorSection } from '../../parts/page/section.tsx'
import { Ago } from '../../parts/show/ago.tsx'
import { Status } from '../../parts/show/status.tsx'
import { useAsk } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { markCompared } from './compared.ts'
import type { EndingTokens } from './ending.tsx'
import { Fingerprint } from './fingerprint.tsx'
import { InvitationLinkBlock } from './invitation_link.tsx'
import {
  isManager,
  type ListedMember,
  listPossibleRoles,
  type MemberList,
  type MemberRow,
  mayRemove,
} from './listed.ts'

const words = texts.members

type Props = {
  workspaceId: string
  list: MemberList
  member: MemberRow
  onEnd(ending: EndingTokens): void
  onClose(): void
}

export function MemberInspector(props: Props) {
  const { workspaceId, list, member, onEnd, onClose } = props
  const isInvited = member.status === 'invited'
  return (
    <Inspector
      key={member.userId}
      title={member.email}
      badge={<MemberStatus member={member} />}
      onClose={onClose}
      footer={mayRemove(member, list) ? <RemoveButton member={member} onEnd={onEnd} /> : null}
    >
      <div className="px-4 pb-3">
        <Facts
          rows={[
            [
              words.role,
              <RoleFact key="role" member={member} ownRole={list.ownRole} onEnd={onEnd} />,
            ],
            ...(member.name === '' ? [] : [[words.person, member.name] as const]),
          ]}
        />
        <p className="mt-2 text-ink-2">{words.mayDo[member.role]}</p>
      </div>
      {isInvited && list.isSigned && isManager(list.ownRole) ? (
        <InspectorSection title={words.link.title}>
          <InvitationLinkBlock workspaceId={workspaceId} />
        </InspectorSection>
      ) : null}
      <InspectorSection title={words.fingerprint}>
        <Keys list={list} member={member} />
      </InspectorSection>
      {list.isSigned ? <Signed workspaceId={workspaceId} email={member.email} /> : null}
    </Inspector>
  )
}

export function MemberStatus({ member: { status } }: { member: ListedMember }) {
  return status === 'active' ? (
    <Status tone="green">{words.statuses.active}</Status>
  ) : (
    <Status tone="amber">{words.statuses.invited}</Status>
  )
}

type RoleProps = { member: ListedMember; ownRole: Role; onEnd(ending: EndingTokens): void }

function RoleFact({ member, ownRole, onEnd }: RoleProps) {
  const { role: from, email } = member
  const possible = listPossibleRoles(member, ownRole)
  const shown = words.roles[from]
  if (possible.length === 0) return shown
  const choices = [from, ...possible].map((role) => ({
    id: role,
    label: words.roles[role],
    isSelected: role === from,
    act: () => role === from || onEnd({ member, role }),
  }))
  return <Menu label={shown} name={words.roleOf(email, shown)} size="small" choices={choices} />
}

function RemoveButton({ member, onEnd }: Omit<RoleProps, 'ownRole'>) {
  const { isOwn, status } = member
  const other = status === 'invited' ? words.withdrawMore : words.removeMore
  return (
    <span className="ml-auto">
      <Button kind="ghost" onPress={() => onEnd({ member, role: null })}>
        {isOwn ? words.leaveMore : other}
      </Button>
    </span>
  )
}

const keyWords = texts.members.compared
const HELP = {
  own: keyWords.ownHelp,
  yes: keyWords.yesHelp,
  no: keyWords.noHelp,
  unusable: keyWords.unusableHelp,
}

function Keys({ list, member }: Pick<Props, 'list' | 'member'>) {
  const { fingerprint, email, comparison } = member
  const own = list.members.find(({ isOwn }) => isOwn)?.email ?? ''
  return (
    <div className="flex flex-col gap-2">
      {fingerprint === null ? null : <Fingerprint text={fingerprint} />}
      <p className="text-ink-2">{HELP[comparison]}</p>
      {comparison === 'no' && fingerprint !== null ? (
        <Button
          size="small"
          onPress={() => {
            markCompared(own, fingerprint)
            say(keyWords.marked(email))
          }}
        >
          {keyWords.mark}
        </Button>
      ) : null}
    </div>
  )
}

const MOST_CHANGES = 5

/** Signed changes that name the member, newest first. */
function Signed({ workspaceId, email }: { workspaceId: string; email: string }) {
  const { data } = useAsk('history.read', { workspaceId })
  const named = (data?.links ?? []).filter(({ what }) => what.includes(email)).reverse()
  const shown = named.slice(0, MOST_CHANGES)
  return (
    <InspectorSection title={words.history.title}>
      {data !== undefined && shown.length === 0 ? (
        <p className="text-ink-2">{words.history.none}</p>
      ) : null}
      <ul className="flex flex-col gap-2">
        {shown.map(({ seq, at, by, what, hash }) => (
          <li key={seq}>
            <p className="wrap-anywhere first-letter:uppercase">{what}</p>
            <p className="text-small text-ink-3">
              <Ago at={at} /> · {by}
            </p>
            <Proof>
              <code>{hash}</code>
            </Proof>
          </li>
        ))}
      </ul>
      <Link
        to="/w/$workspaceId/history"
        params={{ workspaceId }}
        className="mt-2 inline-block font-medium text-accent-ink hover:underline"
      >
        {words.history.all}
      </Link>
    </InspectorSection>
  )
}
