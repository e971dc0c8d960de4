/** Buttons, links and tabs. */
import { Copy, KeyRound, Plus, Upload } from 'lucide-react'
import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { IconButton } from '../parts/icon_button.tsx'
import { LinkButton } from '../parts/link_button.tsx'
import { Kbd } from '../parts/show/kbd.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { Specimen, SpecimenGroup } from './specimen.tsx'

export function Controls() {
  return (
    <SpecimenGroup title="Controls">
      <Specimen
        of={['button']}
        rule="32 px; one primary button per screen; pending keeps its width."
      >
        <Button kind="primary" icon={Plus}>
          Add secret
        </Button>
        <Button icon={Upload}>Import .env</Button>
        <Button kind="ghost">Cancel</Button>
        <Button shortcut="P">Pause</Button>
        <Button isDisabled>Off</Button>
        <Button kind="primary" isPending>
          Signing
        </Button>
      </Specimen>
      <Specimen of={['button']} rule="Small: 26 px, inside rows and panels.">
        <Button kind="primary" size="small">
          Review
        </Button>
        <Button size="small">Replace value</Button>
        <Button kind="ghost" size="small">
          Ignore
        </Button>
      </Specimen>
      <Specimen
        of={['icon_button', 'overlays/tooltip']}
        rule="Always has a label, shown as its tooltip."
      >
        <IconButton icon={Copy} label="Copy token" shortcut="C" />
        <IconButton icon={Copy} label="Copy key" size="small" />
        <IconButton icon={Plus} label="Add agent" kind="primary" />
      </Specimen>
      <Specimen of={['link_button']} rule="Goes to another screen; looks like a button.">
        <LinkButton to="/" icon={KeyRound}>
          Open secrets
        </LinkButton>
      </Specimen>
      <Specimen
        of={['icon', 'show/kbd']}
        rule="Stroke 1.6; beside a text, never alone. Keys are hidden on phones."
      >
        <Icon of={KeyRound} size={12} />
        <Icon of={KeyRound} size={15} />
        <Icon of={KeyRound} size={20} />
        <Kbd>⌘K</Kbd>
      </Specimen>
      <Specimen of={['tabs']} rule="Views of one thing, with an underline.">
        <Tabs
          label="Secret"
          tabs={[
            { id: 'value', label: 'Value', content: <p className="p-4">The value.</p> },
            { id: 'policy', label: 'Policy', content: <p className="p-4">The policy.</p> },
          ]}
        />
      </Specimen>
    </SpecimenGroup>
  )
}
