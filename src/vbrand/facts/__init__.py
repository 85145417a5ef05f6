"""What there is to say of a discovery: small for any table."""
