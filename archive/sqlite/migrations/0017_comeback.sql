-- When neighbors are asked again for what is lacking of a feed's past, and what that is.
ALTER TABLE feeds ADD COLUMN past_lack  TEXT    NOT NULL DEFAULT ''; -- why others may have more, '' where they have not
ALTER TABLE feeds ADD COLUMN past_left  INTEGER;                     -- milliseconds; what came out before is lacking in part
ALTER TABLE feeds ADD COLUMN past_tries INTEGER NOT NULL DEFAULT 0;  -- how often in a row nothing came
ALTER TABLE feeds ADD COLUMN past_again INTEGER;                     -- milliseconds; not before is anybody asked
