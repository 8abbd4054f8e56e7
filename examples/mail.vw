spam |subject cheap watches |body buy cheap watches now limited offer
ham |subject lunch today |body shall we meet for lunch at noon
spam |subject you won |body claim your prize now free money waiting
ham |subject minutes |body the minutes of the meeting are attached
spam |subject free offer |body free pills cheap offer buy now
ham |subject your report |body thanks the report looks good to me
spam |subject urgent prize |body claim free prize offer money now
ham |subject meeting moved |body the meeting is moved to noon tomorrow
spam |subject cheap pills |body cheap pills no prescription buy now
ham |subject lunch tomorrow |body noon at the usual place thanks
spam |subject limited offer |body limited offer free watches claim now
ham |subject travel |body the tickets for the trip are attached
