/** Invites a person in three steps: who and which role, compare their fingerprint, send the link. */
import { Check, ShieldCheck } from 'lucide-react'
import { useState } from 'react'
import type { Role } from '../../../../core/grant.ts'
import { mayChangeMember } from '../../../../sigchain/member_rules.ts'
import type { Returned } from '../../keys/messages.ts'
import { Button } from '../../parts/button.tsx'
import { RadioCards } from '../../parts/fields/radio_cards.tsx'
import { TextField } from '../../parts/fields/text_field.tsx'
import { FieldForm } from '../../parts/form.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Sheet } from '../../parts/overlays/sheet.tsx'
import { Banner } from '../../parts/page/banner.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { Command } from '../../parts/show/command.tsx'
import { useCommand, useRepeatedAsk } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { markCompared } from './compared.ts'
import { Fingerprint } from './fingerprint.tsx'
import { InvitationLinkBlock } from './invitation_link.tsx'
import { type MemberList, ROLES } from './listed.ts'

const words = texts.members.invite
const WAITING_MS = 5_000

type Person = Returned<'members.person'>
type Who = { email: string; role: Role }
type Props = { workspaceId: string; list: MemberList; onClose(): void }
/** The step follows from the data that is known so far. */
type Draft = { who: Who; person: Person | null; isSigned: boolean }

export function InviteSheet({ workspaceId, list, onClose }: Props) {
  const [draft, setDraft] = useState<Draft>({
    who: { email: '', role: 'member' },
    person: null,
    isSigned: false,
  })
  const { who, person, isSigned } = draft
  const place = { workspaceId, list, who }
  return (
    <Sheet title={words.title} isOpen onClose={onClose}>
      <Steps at={isSigned ? 2 : person ? 1 : 0} />
      {person === null ? (
        <WhoStep
          {...place}
          onWho={(next) => setDraft({ ...draft, who: next })}
          onFound={(found) => setDraft({ ...draft, person: found })}
        />
      ) : null}
      {person !== null && !isSigned ? (
        <CompareStep
          {...place}
          person={person}
          onBack={() => setDraft({ ...draft, person: null })}
          onSigned={() => setDraft({ ...draft, isSigned: true })}
        />
      ) : null}
      {person !== null && isSigned ? (
        <LinkStep workspaceId={workspaceId} email={person.email} onClose={onClose} />
      ) : null}
    </Sheet>
  )
}

function Steps({ at }: { at: number }) {
  const { steps } = words
  return (
    <ol className="flex gap-2" aria-label={words.step(at + 1, steps.length)}>
      {steps.map((name, index) => (
        <li
          key={name}
          aria-current={index === at ? 'step' : undefined}
          className={`flex flex-1 items-center gap-1.5 border-t-2 pt-2 text-small font-medium ${index <= at ? 'border-accent text-ink' : 'border-line-2 text-ink-3'}`}
        >
          {index < at ? <Icon of={Check} size={13} /> : null}
          {name}
        </li>
      ))}
    </ol>
  )
}

type StepProps = { workspaceId: string; list: MemberList; who: Who }

function WhoStep({
  workspaceId,
  list,
  who,
  onWho,
  onFound,
}: StepProps & { onWho(who: Who): void; onFound(person: Person): void }) {
  const look = useCommand('members.person')
  const pending = list.members.find(({ email }) => email === who.email.toLowerCase())?.role ?? null
  const possible = ROLES.filter((role) =>
    mayChangeMember(list.ownRole, { kind: 'invite', role, pending }),
  )
  const submit = () =>
    look.mutate(
      { workspaceId, email: who.email },
      { onSuccess: (person) => person.isMember || onFound(person) },
    )
  return (
    <FieldForm className="flex flex-col gap-4" onSubmit={submit}>
      <TextField
        label={texts.members.email}
        type="email"
        autoComplete="off"
        autoFocus
        isRequired
        value={who.email}
        onChange={(email) => {
          onWho({ ...who, email })
          look.reset()
        }}
        error={look.data?.isMember ? words.already(look.data.email) : undefined}
      />
      <RadioCards<Role>
        label={texts.members.role}
        options={possible.map((id) => ({
          id,
          title: texts.members.roles[id],
          help: texts.members.mayDo[id],
        }))}
        value={who.role}
        onChange={(role) => onWho({ ...who, role })}
      />
      {look.error ? <FailureNote error={look.error} /> : null}
      <Button kind="primary" type="submit" isFull isPending={look.isPending}>
        {words.next}
      </Button>
    </FieldForm>
  )
}

/** The text and not the button: a second Enter must not confirm a fingerprint that nobody compared. */
function focusNow(element: HTMLElement | null): void {
  element?.focus()
}

type CompareProps = StepProps & { person: Person; onBack(): void; onSigned(): void }

function CompareStep({ workspaceId, list, who, person, onBack, onSigned }: CompareProps) {
  const { email, fingerprint } = person
  const [isOther, setOther] = useState(false)
  const invite = useCommand('members.invite', { changes: ['members.list', 'history.read'] })
  const own = list.members.find(({ isOwn }) => isOwn)?.email ?? ''
  const reportSigned = () => {
    markCompared(own, fingerprint)
    onSigned()
  }
  const send = () =>
    invite.mutate({ workspaceId, email, role: who.role, fingerprint }, { onSuccess: reportSigned })
  if (isOther) {
    return (
      <>
        <Banner kind="danger">
          <p className="font-medium">{words.differs}</p>
          <p>{words.differsHelp}</p>
        </Banner>
        <Button onPress={onBack}>{words.back}</Button>
      </>
    )
  }
  return (
    <>
      <p ref={focusNow} tabIndex={-1} className="font-medium outline-none">
        {words.compare(email)}
      </p>
      <Fingerprint text={fingerprint} />
      <p className="text-ink-2">
        {words.compareHelp} <Command text={words.compareCommand} />
      </p>
      {invite.error ? <FailureNote error={invite.error} /> : null}
      <div className="flex flex-col gap-2">
        <Button
          kind="primary"
          icon={ShieldCheck}
          isFull
          isPending={invite.isPending}
          onPress={send}
        >
          {words.same}
        </Button>
        <div className="flex justify-between">
          <Button kind="ghost" onPress={onBack}>
            {words.back}
          </Button>
          <Button kind="ghost" onPress={() => setOther(true)}>
            {words.other}
          </Button>
        </div>
      </div>
    </>
  )
}

function LinkStep({
  workspaceId,
  email,
  onClose,
}: {
  workspaceId: string
  email: string
  onClose(): void
}) {
  const { data } = useRepeatedAsk('members.list', { workspaceId }, WAITING_MS)
  const member = data?.members.find((each) => each.email === email)
  const isActive = member?.status === 'active'
  return (
    <>
      <p className="font-medium">{words.invited(email)}</p>
      {data?.isSigned ? <InvitationLinkBlock workspaceId={workspaceId} isStep /> : null}
      <p
        role="status"
        className={`flex items-center gap-2 ${isActive ? 'text-green' : 'text-ink-2'}`}
      >
        <span
          aria-hidden="true"
          className={`size-1.5 rounded-full ${isActive ? 'bg-green-solid' : 'bg-amber-solid'}`}
        />
        {isActive ? words.accepted(email) : words.waiting(email)}
      </p>
      <Button kind={data?.isSigned === false ? 'primary' : 'secondary'} isFull onPress={onClose}>
        {words.done}
      </Button>
    </>
  )
}
