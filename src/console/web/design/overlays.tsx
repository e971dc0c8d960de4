/** Parts that open over the screen. */
import { Download, FileJson, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../parts/button.tsx'
import { ConfirmButton } from '../parts/overlays/confirm.tsx'
import { Dialog } from '../parts/overlays/dialog.tsx'
import { IconMenu, Menu } from '../parts/overlays/menu.tsx'
import { WordMenu, WordPanel } from '../parts/overlays/sentence_word.tsx'
import { Sheet } from '../parts/overlays/sheet.tsx'
import { say } from '../parts/overlays/toasts.tsx'
import { Specimen, SpecimenGroup } from './specimen.tsx'

const doNothing = () => {}
const CHOICES = [
  { id: 'csv', label: 'Export as CSV', icon: Download, act: doNothing },
  { id: 'json', label: 'Export as JSON', icon: FileJson, act: doNothing, shortcut: 'J' },
  { id: 'delete', label: 'Delete…', icon: Trash2, act: doNothing, isDanger: true },
]
const UNDO = { act: async () => 'Import undone.', failed: 'Not undone.' }
const WORDS = ['production', 'staging'].map((id) => ({
  id,
  label: id,
  act: doNothing,
  isSelected: id === 'production',
}))

export function Overlays() {
  return (
    <SpecimenGroup title="Overlays">
      <Specimen
        of={['overlays/menu']}
        rule="Red choices come last and end with … if a dialog follows."
      >
        <Menu label="Export" icon={Download} choices={CHOICES} />
        <IconMenu choices={CHOICES} />
      </Specimen>
      <Specimen
        of={['overlays/sentence_word']}
        rule="A word of a sentence; a press opens what it can become."
      >
        <WordMenu label="Environment" text="production" choices={WORDS} />
        <WordPanel label="Methods" text="GET">
          <p>Only GET is allowed.</p>
        </WordPanel>
      </Specimen>
      <Specimen
        of={['overlays/dialog', 'overlays/confirm']}
        rule="Needs an answer. Red only inside."
      >
        <OpenDialog />
        <ConfirmButton
          verb="Delete secret"
          title="Delete GITHUB_TOKEN?"
          typed="GITHUB_TOKEN"
          onConfirm={async () => {}}
        >
          <p>Agents using GITHUB_TOKEN will fail right away.</p>
        </ConfirmButton>
      </Specimen>
      <Specimen
        of={['overlays/sheet']}
        rule="A form or a guide: 420 px, the whole screen on phones."
      >
        <OpenSheet />
      </Specimen>
      <Specimen of={['overlays/toasts']} rule="Bottom right, at most three, 8 seconds, with Undo.">
        <Button onPress={() => say('Imported 59 secrets.', UNDO)}>Show a toast</Button>
      </Specimen>
    </SpecimenGroup>
  )
}

function OpenDialog() {
  const [isOpen, setOpen] = useState(false)
  const close = () => setOpen(false)
  return (
    <>
      <Button onPress={() => setOpen(true)}>Open dialog</Button>
      <Dialog
        title="Rename project"
        isOpen={isOpen}
        onClose={close}
        footer={
          <>
            <Button onPress={close}>Cancel</Button>
            <Button kind="primary" onPress={close}>
              Rename
            </Button>
          </>
        }
      >
        <p>Agents keep their access.</p>
      </Dialog>
    </>
  )
}

function OpenSheet() {
  const [isOpen, setOpen] = useState(false)
  const close = () => setOpen(false)
  const footer = (
    <Button kind="primary" isFull onPress={close}>
      Create agent
    </Button>
  )
  return (
    <>
      <Button onPress={() => setOpen(true)}>Open sheet</Button>
      <Sheet title="New agent" isOpen={isOpen} onClose={close} footer={footer}>
        <p>Can use payments / development. Can't read values.</p>
      </Sheet>
    </>
  )
}
