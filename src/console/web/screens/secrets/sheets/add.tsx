/** A new secret: a value for each environment, or one for all. */
import { useState } from 'react'
import { SECRET_NAME } from '../../../../../core/names/secret_name.ts'
import { Button } from '../../../parts/button.tsx'
import { Checkbox } from '../../../parts/fields/checkbox.tsx'
import { Segmented } from '../../../parts/fields/segmented.tsx'
import { TextArea } from '../../../parts/fields/text_area.tsx'
import { TextField } from '../../../parts/fields/text_field.tsx'
import { FieldForm } from '../../../parts/form.tsx'
import { SHEET_FORM, SheetFooter } from '../../../parts/overlays/sheet.tsx'
import { say } from '../../../parts/overlays/toasts.tsx'
import { closeAsking } from '../../../parts/overlays/unsaved.ts'
import { FailureNote } from '../../../parts/page/failure.tsx'
import { texts } from '../../../texts/index.ts'
import { ConnectForm } from '../connect/connect_form.tsx'
import { type Matrix, type PaneProps, type Project, useGo, useParameter } from '../place.ts'
import { useSave } from '../save.ts'
import { Pane } from './pane.tsx'

const words = texts.secretSheets
const connectWords = texts.connect
const NAME = new RegExp(`^${SECRET_NAME}$`)

/** By a value that is typed, or by a provider; the address has the choice. */
export function AddSecret({ place, matrix, project }: PaneProps & { project: string }) {
  const go = useGo()
  const pane = useParameter('pane')
  const isConnecting = pane === 'connect'
  return (
    <Pane title={words.add}>
      <Segmented
        label={connectWords.how}
        options={[
          { id: 'new', label: connectWords.byValue },
          { id: 'connect', label: connectWords.byProvider },
        ]}
        value={isConnecting ? 'connect' : 'new'}
        onChange={(chosen) =>
          closeAsking(document.querySelector('[data-sheet]'), () => go({ pane: chosen }, true))
        }
      />
      {isConnecting ? (
        <ConnectForm place={place} matrix={matrix} project={project} />
      ) : (
        <ValueForm place={place} matrix={matrix} />
      )}
    </Pane>
  )
}

type Values = Readonly<Record<string, string>>
/** In place of an environment's name, which can't be empty. */
const EVERYWHERE = ''

function ValueForm({ place, matrix }: Pick<PaneProps, 'place' | 'matrix'>) {
  const [name, setName] = useState('')
  const [values, setValues] = useState<Values>({})
  const [isSame, setSame] = useState(false)
  const [isShown, setShown] = useState(false)
  const [isPlain, setPlain] = useState(false)
  const { add, done, error, isPending } = useAdd(place)
  const problem = problemOf(name, matrix, done)
  const fields = isSame ? [EVERYWHERE] : matrix.environments.filter((each) => !done.includes(each))
  const isEmpty = fields.every((field) => (values[field] ?? '') === '')
  const submit = () => {
    if (problem !== undefined) return
    const filled = matrix.environments.map((each) => [each, values[isSame ? EVERYWHERE : each]])
    const wanted = filled.filter(([each, value]) => value && !done.includes(each ?? ''))
    void add(name, Object.fromEntries(wanted), isPlain)
  }
  return (
    <FieldForm className={SHEET_FORM} onSubmit={submit}>
      <TextField
        label={words.name}
        help={words.nameHelp}
        mono
        isRequired
        autoFocus
        autoComplete="off"
        isReadOnly={done.length > 0}
        value={name}
        onChange={setName}
        error={problem}
      />
      {fields.map((field) => (
        <TextArea
          key={field}
          label={field === EVERYWHERE ? words.everywhere : words.valueIn(field)}
          rows={1}
          isHidden={!isShown}
          isRequired={isEmpty}
          value={values[field] ?? ''}
          stored=""
          onChange={(value) => setValues({ ...values, [field]: value })}
        />
      ))}
      <div className="flex flex-col gap-2">
        <Checkbox
          isSelected={isSame}
          onChange={(isChecked) => {
            setSame(isChecked)
            setValues(isChecked ? gatherValues(values) : spreadValues(values, matrix.environments))
          }}
        >
          {words.sameEverywhere}
        </Checkbox>
        <Checkbox isSelected={isShown} onChange={setShown}>
          {words.showTyped}
        </Checkbox>
        <Checkbox isSelected={isPlain} onChange={setPlain}>
          {words.notSensitive}
        </Checkbox>
      </div>
      {error ? <FailureNote error={error} /> : null}
      <SheetFooter>
        <Button type="submit" kind="primary" isPending={isPending}>
          {words.add}
        </Button>
      </SheetFooter>
    </FieldForm>
  )
}

/** The value for all environments: the first one that is typed, so that nothing typed is lost. */
function gatherValues(values: Values): Values {
  const typed = values[EVERYWHERE] || Object.values(values).find((value) => value !== '')
  return { ...values, [EVERYWHERE]: typed ?? '' }
}

/** The value for all environments goes into each that has none. */
function spreadValues(values: Values, environments: readonly string[]): Values {
  const typed = values[EVERYWHERE] ?? ''
  return Object.fromEntries(environments.map((each) => [each, values[each] || typed]))
}

/** While some environments have it already, it can be sent again for the others. */
function problemOf(name: string, { rows }: Matrix, done: readonly string[]): string | undefined {
  if (name === '') return undefined
  if (!NAME.test(name)) return words.badName
  const isTaken = done.length === 0 && rows.some(({ key }) => key === name)
  return isTaken ? words.taken(name) : undefined
}

/** One environment after the other; those that have the secret are not sent again after a refusal. */
function useAdd(place: Project) {
  const go = useGo()
  const { mutateAsync, reset } = useSave(place)
  const [done, setDone] = useState<readonly string[]>([])
  const [error, setError] = useState<unknown>(null)
  const [isPending, setPending] = useState(false)
  const add = async (key: string, values: Values, isSetting: boolean) => {
    setPending(true)
    setError(null)
    const added = [...done]
    try {
      for (const [environment, value] of Object.entries(values)) {
        const secret = { ...place, environment, key, value }
        await mutateAsync({ ...secret, expectedVersion: 0, isSetting })
        added.push(environment)
        setDone([...added])
      }
      say(words.added(key, added))
      go({ pane: undefined })
    } catch (failure) {
      setError(failure)
    }
    // Otherwise the page would keep the value that was sent.
    reset()
    setPending(false)
  }
  return { add, done, error, isPending }
}
