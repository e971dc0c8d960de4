/** A policy as a sentence whose words are menus. Rare limits are under "More". */
import { type ReactNode, useMemo } from 'react'
import { Checkbox } from '../../../../parts/fields/checkbox.tsx'
import { TextField } from '../../../../parts/fields/text_field.tsx'
import { Facts } from '../../../../parts/page/facts.tsx'
import { Proof } from '../../../../parts/page/proof.tsx'
import { useAsk } from '../../../../queries.ts'
import { texts } from '../../../../texts/index.ts'
import { MethodsToken, type PartProps, TemplatesToken, TypedToken } from './list_tokens.tsx'
import { ApprovalToken, PlacesToken } from './places_token.tsx'

const words = texts.policies

type Props = PartProps & {
  workspaceId: string
  /** Limits alone: the rest stays as each secret has it. */
  isBulk: boolean
  /** The workspace is signed, so that uses can need approval. */
  isSigned: boolean
}

export function Sentence({ workspaceId, isBulk, isSigned, ...part }: Props) {
  const { data } = useAsk('allowlist.list', { workspaceId })
  const hosts = useMemo(() => data?.entries.map(({ domain }) => domain) ?? [], [data])
  const { kind, references, sensitive } = part.policy
  const canBeHeld =
    isSigned && !isBulk && [kind, references, sensitive].every((field) => field === undefined)
  return (
    <>
      <p className="leading-7 phone:leading-11">
        {words.sentence.methods} <MethodsToken {...part} /> {words.sentence.hosts}{' '}
        <TypedToken {...part} field="allowed_domains" suggestions={hosts} /> {words.sentence.paths}{' '}
        <Joined>
          <TypedToken {...part} field="allowed_paths" />,
        </Joined>{' '}
        {words.sentence.places}{' '}
        <Joined>
          <PlacesToken {...part} />.
        </Joined>
        {canBeHeld ? (
          <>
            {' '}
            {words.sentence.approval}{' '}
            <Joined>
              <ApprovalToken {...part} />.
            </Joined>
          </>
        ) : null}
      </p>
      <Proof label={words.more} startsOpen={hasRare(part.policy)}>
        <More {...part} isBulk={isBulk} />
      </Proof>
    </>
  )
}

/** Keeps a word with the mark that follows it. */
function Joined({ children }: { children: ReactNode }) {
  return <span className="inline-flex max-w-full items-center align-middle">{children}</span>
}

function hasRare({
  allowed_headers,
  sign_templates,
  allowed_operations,
  ...rest
}: PartProps['policy']) {
  return (allowed_headers ?? sign_templates ?? allowed_operations ?? rest.read_only) !== undefined
}

function More({ isBulk, ...part }: PartProps & { isBulk: boolean }) {
  const { names } = words
  return (
    <div className="flex flex-col gap-3 text-body text-ink">
      <Facts
        rows={[
          [names.allowed_headers, <TypedToken key="headers" {...part} field="allowed_headers" />],
          [
            names.allowed_operations,
            <TypedToken key="operations" {...part} field="allowed_operations" />,
          ],
          [names.sign_templates, <TemplatesToken key="templates" {...part} />],
        ]}
      />
      {isBulk ? null : <Single {...part} />}
    </div>
  )
}

/** Fields that belong to one value. */
function Single({ policy, onChange }: PartProps) {
  const { read_only, references, sensitive, description, ...rest } = policy
  const put = (name: keyof typeof policy, value: unknown) => {
    const { [name]: _, ...others } = policy
    onChange(value === undefined ? others : { ...others, [name]: value })
  }
  const canBePlain = rest.approval === undefined && rest.kind === undefined
  return (
    <>
      <Checkbox
        isSelected={read_only === true}
        onChange={(is) => put('read_only', is ? true : undefined)}
      >
        {words.readOnly}
      </Checkbox>
      {canBePlain ? (
        <>
          <Checkbox
            isSelected={references === true}
            onChange={(is) => put('references', is ? true : undefined)}
          >
            {words.references}
          </Checkbox>
          <Checkbox
            isSelected={sensitive === false}
            onChange={(is) => put('sensitive', is ? false : undefined)}
          >
            {words.notSensitive}
          </Checkbox>
        </>
      ) : null}
      <TextField
        label={words.description}
        help={words.descriptionHelp}
        maxLength={500}
        value={description ?? ''}
        onChange={(text) => put('description', text === '' ? undefined : text)}
      />
    </>
  )
}
