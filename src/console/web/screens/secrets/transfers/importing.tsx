/** Imports a `.env` file that is pasted, chosen or dropped. The worker reads it; its changes are shown before it is stored. */
import { Upload } from 'lucide-react'
import { useCallback, useEffect, useMemo, useState } from 'react'
import { FileTrigger } from 'react-aria-components'
import { Button } from '../../../parts/button.tsx'
import { Checkbox } from '../../../parts/fields/checkbox.tsx'
import { TextArea } from '../../../parts/fields/text_area.tsx'
import { FieldForm } from '../../../parts/form.tsx'
import { SHEET_FORM, SheetFooter } from '../../../parts/overlays/sheet.tsx'
import { markUnsaved } from '../../../parts/overlays/unsaved.ts'
import { texts } from '../../../texts/index.ts'
import { type PaneProps, useEnvironment, useGo } from '../place.ts'
import { EnvironmentSelect } from '../sheets/environment_select.tsx'
import { Pane } from '../sheets/pane.tsx'
import type { TransferOrder } from './use_preview.ts'
import { useTransfer } from './use_transfer.tsx'

const words = texts.secretSheets
/** More characters at once are pasted, not typed. */
const TYPED = 1

export function Importing({ place, matrix, file }: PaneProps & { file: File | null }) {
  const go = useGo()
  const environment = useEnvironment(matrix)
  const source = useSource(file)
  const { previewed } = source
  const order = useMemo(
    (): TransferOrder | null =>
      previewed === null ? null : { to: { ...place, environment }, source: { text: previewed } },
    [place, environment, previewed],
  )
  const done = () => go({ pane: undefined })
  const { list, button, problems, isPending } = useTransfer(order, {
    verb: words.import,
    onDone: done,
  })
  const isWriting = order === null || problems.length > 0
  const back = (
    <Button kind="ghost" isDisabled={isPending} onPress={() => source.preview(null)}>
      {words.back}
    </Button>
  )
  return (
    <Pane
      title={words.importTitle}
      footer={
        isWriting ? null : (
          <>
            {back}
            {button}
          </>
        )
      }
    >
      <EnvironmentSelect matrix={matrix} />
      {isWriting ? <SourceForm source={source} problems={problems} /> : null}
      {/* The text is typed in a form that is no longer shown. */}
      {isWriting ? null : <div {...markUnsaved(source.isTyped)}>{list}</div>}
    </Pane>
  )
}

/** The text, and the part of it that was sent to the preview. */
function useSource(file: File | null) {
  const [text, setText] = useState('')
  const [previewed, preview] = useState<string | null>(null)
  const [isBad, setBad] = useState(false)
  const [isTyped, setIsTyped] = useState(false)
  const read = useCallback(async (given: Blob) => {
    try {
      const bytes = await given.arrayBuffer()
      const decoded = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
      setText(decoded)
      setBad(false)
      setIsTyped(false)
      preview(decoded)
    } catch {
      setBad(true)
    }
  }, [])
  useEffect(() => {
    if (file) void read(file)
  }, [file, read])
  const write = (next: string) => {
    setText(next)
    setIsTyped(next !== '')
    preview(next.length - text.length > TYPED ? next : null)
  }
  return { text, isTyped, previewed, preview, isBad, read, write }
}

type SourceProps = ProblemsProps & { source: ReturnType<typeof useSource> }

function SourceForm({ source, problems }: SourceProps) {
  const { text, isTyped, isBad, read, write, preview } = source
  const [isShown, setShown] = useState(false)
  return (
    <FieldForm className={SHEET_FORM} onSubmit={() => preview(text)}>
      <TextArea
        label={words.importText}
        help={words.importHelp}
        rows={12}
        isRequired
        isHidden={!isShown}
        value={text}
        stored={isTyped ? '' : text}
        onChange={write}
        error={isBad ? words.notText : undefined}
      />
      <Checkbox isSelected={isShown} onChange={setShown}>
        {words.showTyped}
      </Checkbox>
      <FileTrigger onSelect={(files) => files?.[0] && void read(files[0])}>
        <Button icon={Upload}>{words.chooseFile}</Button>
      </FileTrigger>
      {problems.length > 0 ? <Problems text={text} problems={problems} /> : null}
      <SheetFooter>
        <Button type="submit" kind="primary">
          {words.preview}
        </Button>
      </SheetFooter>
    </FieldForm>
  )
}

type ProblemsProps = { problems: readonly { line: number; reason: string }[] }

/** Lines of a masked text can't be counted, so their names are listed, too. */
function Problems({ text, problems }: ProblemsProps & { text: string }) {
  const lines = text.split('\n')
  return (
    <div role="alert" className="rounded-control bg-red-soft px-3 py-2 text-red">
      <p className="font-medium">{words.fixFirst}</p>
      <ul>
        {problems.map(({ line, reason }) => (
          <li key={line}>{words.line(line, nameIn(lines[line - 1] ?? ''), reason)}</li>
        ))}
      </ul>
    </div>
  )
}

/** Null for a line that may be a part of a value. */
function nameIn(line: string): string | null {
  return /^\s*(?:export\s+)?([A-Z_][A-Z0-9_]{0,63})\s*=(?!=|\s*$)/.exec(line)?.[1] ?? null
}
