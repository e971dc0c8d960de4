/** A button with several things to do behind it. */
import {
  Button as AriaButton,
  Menu as AriaMenu,
  MenuItem,
  MenuTrigger,
  Popover,
} from 'react-aria-components'

export type MenuChoice = { id: string; label: string; act(): void; isDanger?: boolean }

type Props = {
  label: string
  /** What is read where the label is a sign. */
  name?: string
  choices: readonly MenuChoice[]
}

export function Menu({ label, name = label, choices }: Props) {
  return (
    <MenuTrigger>
      <AriaButton className="button button-quiet" aria-label={name}>
        {label}
      </AriaButton>
      <Popover className="popover">
        <AriaMenu aria-label={name} className="choices">
          {choices.map(({ id, label: text, act, isDanger = false }) => (
            <MenuItem
              key={id}
              id={id}
              textValue={text}
              onAction={act}
              className={isDanger ? 'choice choice-danger' : 'choice'}
            >
              {text}
            </MenuItem>
          ))}
        </AriaMenu>
      </Popover>
    </MenuTrigger>
  )
}
